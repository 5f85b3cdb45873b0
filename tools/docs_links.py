"""For mkdocs: links that lead out of docs/, to sources, which the site does not have.

On the web page of the repository they work as they are. On the site they become plain text; one that leads to nothing
fails the build as any broken link does.
"""

import logging
import re
from pathlib import Path

LOG = logging.getLogger("mkdocs.plugins.docs_links")
ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((\.\./[^)#\s]+)(?:#[^)]*)?\)")


def on_page_markdown(markdown, page, config, files):
    docs = Path(config["docs_dir"]).resolve()
    here = Path(page.file.abs_src_path).resolve().parent

    def replace(link):
        target = (here / link[2]).resolve()
        if target.is_relative_to(docs):
            return link[0]
        if not target.exists():
            LOG.warning("%s: there is no %s", page.file.src_uri, link[2])
        return f"{link[1]} (`{target.relative_to(ROOT)}`)" if link[1].strip("`") not in str(target) else link[1]

    return LINK.sub(replace, markdown)
