"""Prints the ```python blocks of a page, with `# -----` between them."""

import re
import sys

page = open(sys.argv[1], encoding="utf-8").read()
print("# -----\n".join(re.findall(r"^```python\n(.*?)^```", page, re.S | re.M)))
