# Copyright: gpu-seats maintainers
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
"""The host tool as one file, for a task that installs it."""

from __future__ import annotations

DOCUMENTATION = r"""
name: gpu_seats_host_tool
author: gpu-seats maintainers
version_added: "0.2.0"
short_description: The archive of the command that units on a host run
description:
  - Packs the host tool and all that it imports into one file that Python runs. The same sources give the same bytes, so
    a task that installs it changes nothing where nothing changed.
options:
  _terms:
    description: Takes none.
    type: list
    elements: str
"""

EXAMPLES = r"""
- name: Install the host tool
  systemd_units:
    files:
      - path: /usr/local/lib/gpu-seats/gpu-seats-host.pyz
        content_zlib: "{{ lookup('gpu_seats_host_tool') }}"
        mode: "0755"
"""

RETURN = r"""
_raw:
  description: The archive, packed by zlib and in base64, as M(systemd_units) takes it.
  type: list
  elements: str
"""

import base64
import zlib

from ansible.plugins.lookup import LookupBase

from gpu_seats.controller.host_tool_archive import archive_bytes


class LookupModule(LookupBase):
    def run(self, terms, variables=None, **kwargs):
        self.set_options(var_options=variables, direct=kwargs)
        return [base64.b64encode(zlib.compress(archive_bytes(), 9)).decode("ascii")]
