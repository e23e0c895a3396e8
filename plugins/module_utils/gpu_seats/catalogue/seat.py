"""Findings about seats, from container to completion."""

from __future__ import annotations

from .kind import FindingKind

KINDS: dict[str, FindingKind] = {
    "seat.retired_still_there": FindingKind(
        "warning",
        "The seat is declared retired and its container still exists.",
        "ansible-playbook playbooks/retire-seat.yml -e seat=SEAT",
    ),
    "seat.incomplete": FindingKind(
        "error",
        "A workload that is to run does not declare what its container is made from.",
        "Add the keys that the message names, or set its state to dormant.",
    ),
    "seat.dormant_incomplete": FindingKind(
        "info",
        "A dormant workload does not declare what its container is made from, so it is not rendered: its files on the "
        "host stay as they are.",
        "Nothing, until it is wanted again: then add the keys that the message names.",
    ),
    "seat.stack_incomplete": FindingKind(
        "error",
        "A stack holds a dormant workload that cannot be rendered: writing the file would drop it.",
        "Complete the dormant workload's declaration, or set it to retired with a reason.",
    ),
    "seat.command_overridden": FindingKind(
        "error",
        "The command line of an engine's seat is made from its options, so that they can be checked and planned with.",
        "Move the arguments into the vllm or llamacpp block (vllm.flags takes any flag of that version).",
    ),
    "seat.flag_refused": FindingKind(
        "error",
        "The engine of the declared version would refuse this flag or value and exit at start.",
        "Write the flag as the message says, or remove it.",
    ),
    "seat.flag_unsure": FindingKind(
        "warning",
        "The flag is deprecated, or the declared build stands between releases and one of its neighbours lacks it.",
        "Try it in the lab, or pin a release image.",
    ),
    "seat.feature_unknown": FindingKind(
        "error",
        "The seat needs a feature that data/vllm/features.json does not describe.",
        "Correct the name, or describe the feature there by the merge that it came with.",
    ),
    "seat.feature_missing": FindingKind(
        "error",
        "The declared image was built before the feature that the seat needs was merged.",
        "Choose an image that has it; the message names the merge and the first release.",
    ),
    "seat.feature_unverified": FindingKind(
        "error",
        "The seat needs a feature and the image's tag does not tell what the build holds.",
        "Set vllm.build_date (docker inspect shows the image's Created day), or choose a release image.",
    ),
    "seat.build_unknown": FindingKind(
        "warning",
        "The image's tag does not tell which build of vLLM it is, so its flags are held against the newest table.",
        "Pin a release, or set vllm.build_date.",
    ),
    "seat.speculation_refused": FindingKind(
        "error",
        "vLLM refuses the speculative configuration at start.",
        "Set num_speculative_tokens or method as the message says.",
    ),
    "seat.speculation_unchecked": FindingKind(
        "info",
        "Above the checkpoint's number of MTP layers the number of speculative tokens must be a multiple of it.",
        "Set vllm.speculative.mtp_layers (mtp_num_hidden_layers in the checkpoint's config.json).",
    ),
    "seat.parallel_mismatch": FindingKind(
        "error",
        "The engine would start another number of workers than the seat has cards.",
        "Leave tensor_parallel_size out (one worker a card), or name as many cards as workers.",
    ),
    "seat.runner_mismatch": FindingKind(
        "error",
        "vLLM's pooling runner serves embedding, rerank and reward; every other task needs the generate runner.",
        "Leave vllm.runner out: it follows from the task.",
    ),
    "seat.label_reserved": FindingKind(
        "error",
        "A declared label would replace one that says whose a container is, or make a broken dashboard tile.",
        "Remove the label; the message says which key writes it.",
    ),
    "seat.tile_repeated": FindingKind(
        "warning",
        "Two workloads declare the same tile of the Homepage dashboard: Homepage merges them and one link is lost.",
        "Give one of them another homepage.name.",
    ),
    "stack.project_collision": FindingKind(
        "error",
        "Two stacks of one host have the same Compose project name: each deployment would take the other's containers "
        "for its own.",
        "Rename one stack, or set its project.",
    ),
    "seat.container_missing": FindingKind(
        "error",
        "The seat has no container.",
        "Deploy it: ansible-playbook deploy-seat.yml -e seat=SEAT",
    ),
    "seat.container_ended": FindingKind(
        "error",
        "The seat's container does not run.",
        "Read the root cause beside this finding, or docker logs CONTAINER; deploy again once it is gone.",
    ),
    "seat.restart_loop": FindingKind(
        "error",
        "The container starts and ends again and again: waiting does not help.",
        "Read the root cause beside this finding. Set the seat dormant while you look, so that it stops "
        "reloading weights.",
    ),
    "seat.gpus_differ": FindingKind(
        "error",
        "Inside the container other cards are visible than the declared ones.",
        "Deploy the seat again; if it stays, compare device_ids with nvidia-smi -L on the host.",
    ),
    "seat.gpus_unknown": FindingKind(
        "warning",
        "The image has no nvidia-smi, so the cards inside the container could not be read.",
        "Compare HostConfig.DeviceRequests (docker inspect) with the declaration.",
    ),
    "seat.unhealthy": FindingKind(
        "error",
        "The engine's health address answers with an error.",
        "Read the answer in the evidence and the engine's log.",
    ),
    "seat.load_timeout": FindingKind(
        "error",
        "The engine was not ready within the seat's load limit.",
        "Read how far it came in the engine's log; a cold page cache makes the first load slower: raise timeouts.load.",
    ),
    "seat.no_model_list": FindingKind(
        "error",
        "The engine is healthy and does not list its models.",
        "Ask http://HOST:PORT/v1/models by hand; another program may answer on the port.",
    ),
    "seat.wrong_model_name": FindingKind(
        "error",
        "The engine serves under another name than the declared one, so clients get 404.",
        "Set model.served_name to what clients ask for, and deploy again.",
    ),
    "seat.needs_key": FindingKind(
        "error",
        "The engine refuses requests without a key, so nothing more could be verified.",
        "Take the engine's own key away (the gateway holds keys), or verify by hand.",
    ),
    "seat.completion_failed": FindingKind(
        "error",
        "A real request to the seat did not give a real answer, although the engine says it is healthy.",
        "Read the answer in the evidence and the engine's log.",
    ),
    "seat.hangs": FindingKind(
        "critical",
        "A real request to the seat gave no answer within its limit, although the engine says it is healthy.",
        "Look at the engine's log and the card (nvidia-smi, Xid); a restart of the container is right if "
        "the card is well.",
    ),
    "seat.not_as_declared": FindingKind(
        "warning",
        "The container was made from another declaration than the one at hand.",
        "Deploy the seat: ansible-playbook deploy-seat.yml -e seat=SEAT",
    ),
    "seat.unreachable_from_controller": FindingKind(
        "error",
        "The seat answers on its own host and not to the controller: a firewall, a route or a stale address between.",
        "Find what is between; where the controller has no route at all, set the role's outside_check to false.",
    ),
    "seat.dormant_runs": FindingKind(
        "error",
        "A seat that is declared dormant runs and holds its card, which planning counts as free.",
        "Deploy its stack to stop it, or set its state to what it is.",
    ),
    "seat.undeclared": FindingKind(
        "warning",
        "A container runs from a stack that was deleted instead of retired: nothing plans its memory or its port.",
        "Bring its stack.yml back with state: retired and a reason, and run playbooks/retire-seat.yml.",
    ),
    "seat.retired_remains": FindingKind(
        "error",
        "A retired seat still has its container.",
        "ansible-playbook playbooks/retire-seat.yml -e seat=SEAT",
    ),
}
