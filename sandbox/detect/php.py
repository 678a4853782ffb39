"""Recipes for PHP: Composer and PHPUnit."""

from __future__ import annotations

from sandbox.detect.files import Files, below, table
from sandbox.port import Recipe

EXTENSIONS = frozenset(
    {
        *("mbstring", "xml", "curl", "zip", "intl", "gd", "sqlite3", "bcmath", "gmp", "mysql", "pgsql", "soap"),
        *("redis", "imagick", "apcu", "yaml", "ldap"),
    }
)
"""Extensions that Debian packages as `php-<name>`."""
ALWAYS = ("php-cli", "php-mbstring", "php-xml", "php-curl", "composer", "unzip")
LOADED = " -d auto_prepend_file=vendor/autoload.php"
"""The PHPUnit that Composer installs finds the classes of the tests by itself; another has to be told."""
OTHERS = {
    **dict.fromkeys(("dom", "simplexml", "xmlwriter", "xmlreader"), "xml"),
    "pdo_sqlite": "sqlite3",
    "pdo_mysql": "mysql",
}


def detect(files: Files, folder: str, base_image: str) -> list[Recipe]:
    """Recipes for the PHP project in `folder`: with the PHPUnit that it names, then with Debian's."""
    path = below(folder, "composer.json")
    composer = files.json(path)
    names = ("phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml")
    config = next((below(folder, name) for name in names if files.has(below(folder, name))), "")
    if not composer and not config:
        return []
    required = {**table(composer, "require"), **table(composer, "require-dev")}
    own = any(name.startswith(("phpunit/", "pestphp/", "symfony/phpunit-bridge")) for name in required)
    if not config and not own:
        return []
    wanted = [name.removeprefix("ext-") for name in required if name.startswith("ext-")]
    extras = sorted({OTHERS.get(name, name) for name in wanted} & EXTENSIONS)
    packages = tuple(dict.fromkeys([*ALWAYS, *(f"php-{name}" for name in extras)]))
    install = "composer install --no-interaction --no-progress --prefer-dist"
    ways = [(install, "vendor/bin/phpunit", packages, path)] if own else []
    ways.append(
        (
            "composer dump-autoload --dev --no-interaction",
            f"php{LOADED if composer else ''} /usr/bin/phpunit",
            (*packages, "phpunit"),
            f"{path} and Debian's PHPUnit",
        )
    )
    return [
        Recipe(
            base_image,
            setup=(setup,) if composer else (),
            test_command=command,
            reporter="phpunit",
            packages=names,
            workdir=folder,
            sources={"setup": source, "test_command": config or path, "base_image": "the default"},
        )
        for setup, command, names, source in ways
    ]
