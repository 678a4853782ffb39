"""Recipes for Java and its relatives: Maven and Gradle."""

from __future__ import annotations

from sandbox.detect.files import Files, below
from sandbox.port import Recipe

NO_TEST = "-Dtest=NoSuchTest -DfailIfNoTests=false -Dsurefire.failIfNoSpecifiedTests=false"
SOURCES = ("*.java", "*.kt", "*.groovy", "*.scala")


def detect(files: Files, folder: str, base_image: str) -> list[Recipe]:
    """Recipes for the Maven or Gradle build in `folder`."""
    prefix = "" if folder == "." else folder + "/"
    if not files.glob(*(f"{prefix}*src/*test*/{pattern}" for pattern in SOURCES)):
        return []
    return [*_maven(files, folder, base_image), *_gradle(files, folder, base_image)]


def _maven(files: Files, folder: str, base_image: str) -> list[Recipe]:
    path = below(folder, "pom.xml")
    if not files.has(path):
        return []
    wrapped = files.has(below(folder, "mvnw")) and files.has(below(folder, ".mvn/wrapper/maven-wrapper.properties"))
    program = "bash ./mvnw" if wrapped else "mvn"
    quiet = "--batch-mode --no-transfer-progress"
    skipped = "-Drat.skip -Dcheckstyle.skip -Denforcer.skip -Dspotbugs.skip -Dmaven.javadoc.skip"
    return [
        Recipe(
            base_image,
            # Plug-ins that only a test run asks for are fetched by running one test that does not exist.
            setup=(f"{program} {quiet} {skipped} {NO_TEST} test",),
            test_command=f"{program} --offline --no-transfer-progress {skipped} test",
            reporter="maven",
            packages=("default-jdk-headless", *(() if wrapped else ("maven",))),
            workdir=folder,
            sources={"setup": path, "test_command": "mvnw" if wrapped else "Maven's own", "base_image": "the default"},
        )
    ]


def _gradle(files: Files, folder: str, base_image: str) -> list[Recipe]:
    names = ("build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts")
    path = next((below(folder, name) for name in names if files.has(below(folder, name))), "")
    if not path:
        return []
    wrapped = files.has(below(folder, "gradlew"))
    start = "bash ./gradlew --no-daemon" if wrapped else "gradle --no-daemon"
    return [
        Recipe(
            base_image,
            setup=(f"{start} --console=plain testClasses",),
            test_command=f"{start} --offline test",
            reporter="gradle",
            packages=("default-jdk-headless", *(() if wrapped else ("gradle",))),
            workdir=folder,
            sources={
                "setup": path,
                "test_command": "gradlew" if wrapped else "Gradle's own",
                "base_image": "the default",
            },
        )
    ]
