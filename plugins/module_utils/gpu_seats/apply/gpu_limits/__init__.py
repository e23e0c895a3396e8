"""Power limits of cards: what is declared (`caps`), what holds (`card_reading`), and making it so (`capping`)."""
