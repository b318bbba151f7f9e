"""Declared images: found by name, compiled, and held against the interpreted declaration by tests that can fail."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

import katapi
from katapi.analyse import analyse
from katapi.build import write
from katapi.compile import compile_project
from katapi.language.source import Source
from katapi.model.images import Image
from katapi.oracle.images import ImageOracle
from katapi.project import Project
from katapi.runtime.errors import ArtifactError, MediaError
from katapi.runtime.images.arrays import Join
from katapi.runtime.images.picture import Picture, Size, outline
from katapi.runtime.images.pieces import Piece
from katapi.runtime.images.pipeline import ImagePipeline
from katapi.runtime.images.pixels import Normalization
from katapi.runtime.images.plan import Outputs
from katapi.testing_images import PictureFile, check_arrays, check_counts, declared
from tests.images.pictures import altered

SMALL = """image small version "1" {
  accept: png
  limits: 1 MiB, 1000000 pixels
  damaged: reject
  frames: first
  media_type: reject
  arrive pil { orientation: ignore  alpha: over white  icc: ignore  depth: clip }
  param side: int = 16
  let fitted = resize(source, size(side, halved(2 * side)), bicubic)
  numbers = rescaling(1 / 255)
  output pixel_values: float32 = planes([fitted])
  tokens @pad = side
  control { @pad "<pad>" }
  placeholder { each row in range(2) { repeat side // 2 { @pad } } }
}
"""
HALVED = """formula halved(side: int): int {
  give side // 2
}
"""
UNUSED = """formula unused(side: int): int {
  give side
}
"""
NAMES = sorted(katapi.image_pipelines())
FILES = [PictureFile(5, 9, "RGB", 6, 1), PictureFile(700, 31, "P with alpha", 1, 2)]


def images_in(text: str) -> dict[str, Image]:
    (library,) = analyse("small", Source("small.kata", text))
    return {image.identity.name: image for image in library.images}


def digests_of(text: str) -> set[str]:
    return {image.digest for image in images_in(text).values()}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "spec").mkdir()
    return Project(tmp_path, tmp_path / "spec", tmp_path / "generated", "own_images")


@pytest.mark.parametrize("name", NAMES)
def test_a_pipeline_is_found_by_its_name_and_comes_in_by_each_of_its_ways(name: str) -> None:
    pipeline = katapi.image_pipeline(name)
    assert pipeline.name == name
    for way in pipeline.ways:
        assert katapi.image_pipeline(name, load=way).way == way
    with pytest.raises(ArtifactError, match="a way 'post'") as caught:
        katapi.image_pipeline(name, load="post")
    assert caught.value.code == "A145"


def test_what_is_not_declared_is_not_found() -> None:
    with pytest.raises(ArtifactError) as caught:
        katapi.image_pipeline("qwen9_vl")
    assert (caught.value.code, "qwen3_vl" in caught.value.help) == ("A141", True)


def test_a_project_of_ones_own_has_images(project: Project) -> None:
    (project.spec / "formulas.kata").write_text(HALVED + "\n" + UNUSED)
    (project.spec / "small.kata").write_text('use "formulas.kata"\n\n' + SMALL)
    files = compile_project(project)
    write(project, files)
    package = Path("own_images")
    assert b'"small": "small"' in files[package / "__init__.py"]
    formulas = files[package / "small" / "formulas.py"].decode()
    assert re.findall(r"^def (\w+)", formulas, re.MULTILINE) == ["halved"]
    assert Path("tests") / "test_small.py" in files
    assert package / "formulas" / "__init__.py" not in files


def test_one_name_means_one_image_in_a_project(project: Project) -> None:
    for name in ("one", "two"):
        (project.spec / f"{name}.kata").write_text(HALVED + "\n" + SMALL)
    with pytest.raises(ArtifactError, match="the image small is declared in") as caught:
        compile_project(project)
    assert caught.value.code == "A155"


def test_a_digest_is_of_all_that_an_image_means() -> None:
    other = '\nimage other version "1" like small {\n  param side = 32\n}\n'
    digests = digests_of(HALVED + SMALL + other)
    assert digests == digests_of(f"# A comment.\n{HALVED}\n\n{SMALL}{other}")
    changes = [("side // 2\n", "side // 2 + 0\n"), ("bicubic", "bilinear"), ("1 MiB", "2 MiB"), ('"<pad>"', '"<p>"')]
    for old, new in changes:
        text = (HALVED + SMALL + other).replace(old, new)
        assert text != HALVED + SMALL + other
        changed = digests_of(text)
        assert (len(digests), len(changed), digests & changed) == (2, 2, set())


def test_values_of_parameters_are_those_of_each_image() -> None:
    other = '\nimage other version "1" like small {\n  param side = 32\n}\n'
    images = images_in(HALVED + SMALL + other)
    assert {name: ImageOracle.of_picture(image, 9, 9).tokens for name, image in images.items()} == {
        "small": 16,
        "other": 32,
    }


# ---- what the generated tests ask can come out false


QWEN = declared(__file__, "spec/images/qwen_vl.kata")["qwen2_vl"]
PIPELINE = katapi.image_pipeline("qwen2_vl")


def test_a_sound_pipeline_passes() -> None:
    check_arrays(PIPELINE, QWEN, "load_image", FILES[:1])
    check_counts(PIPELINE, QWEN, Size(700, 31))


@pytest.mark.parametrize(
    "wrong",
    [
        replace(PIPELINE, plan=katapi.image_pipeline("qwen2_5_vl_limited").plan),
        altered(PIPELINE, arrays=lambda plan, numbers: dict(reversed([*plan.arrays(numbers).items()]))),
        replace(PIPELINE, plan=katapi.image_pipeline("glm4v").plan),
        altered(PIPELINE, tokens=lambda plan: plan.tokens() + 1),
        altered(PIPELINE, placeholder=lambda plan, _: [Piece("<|image_pad|>", True, plan.tokens())]),
        replace(PIPELINE, ways={**PIPELINE.ways, "load_image": PIPELINE.ways["pil"]}),
    ],
    ids=["parameters", "order", "formula", "tokens", "indices", "way"],
)
def test_a_wrong_pipeline_does_not(wrong: ImagePipeline) -> None:
    file = PictureFile(40, 90, "RGBA", 6, 3)
    with pytest.raises(AssertionError):
        check_arrays(wrong, QWEN, "load_image", [file])


def test_a_wrong_join_does_not() -> None:
    image = declared(__file__, "spec/images/llava_next.kata")["llava_next"]
    pipeline = katapi.image_pipeline("llava_next")
    check_arrays(pipeline, image, "pil", FILES)
    with pytest.raises((AssertionError, ValueError)):
        check_arrays(replace(pipeline, joins={"pixel_values": Join(0)}), image, "pil", FILES)


def test_what_a_size_refuses_must_be_refused() -> None:
    small = PIPELINE.plan(outline(Size(28, 28), 10**6))
    with pytest.raises(AssertionError):
        check_counts(replace(PIPELINE, plan=lambda _: small), QWEN, Size(1, 500))


def test_a_picture_too_narrow_for_the_declaration_is_refused_by_its_header() -> None:
    with pytest.raises(MediaError, match="one side is more than 200 times the other") as caught:
        PIPELINE.planned(outline(Size(1, 500), 10**6))
    assert caught.value.code == "M109"


def test_where_a_plan_comes_to_no_number_the_picture_is_refused() -> None:
    class Broken:
        def __init__(self, source: Picture) -> None:
            self.sides = [source.height][source.width :]
            self.first = self.sides[0] / (source.height - 3)

        def arrays(self, numbers: Normalization) -> Outputs:
            return {}

        def tokens(self) -> int:
            return 0

        def placeholder(self) -> list[Piece]:
            return []

    pipeline = replace(PIPELINE, name="broken", plan=Broken)
    with pytest.raises(MediaError, match="broken has no answer for an image of 3 × 4") as caught:
        pipeline.planned(outline(Size(3, 4), 100))
    assert caught.value.code == "M109"


def test_one_image_may_come_by_two_ways(project: Project) -> None:
    budget = 'budget {} version "1" {{\n  window: 64\n  reserve: 8\n  overflow: reject\n}}\n'
    (project.spec / "small.kata").write_text(HALVED + SMALL)
    for name in ("one", "two"):
        (project.spec / f"{name}.kata").write_text('use "small.kata"\n' + budget.format(name))
    (project.spec / "three.kata").write_text('use "one.kata"\nuse "two.kata"\n' + budget.format("three"))
    assert Path("own_images") / "three" / "__init__.py" in compile_project(project)


def test_loops_may_be_named_as_they_like(project: Project) -> None:
    text = SMALL.replace("each row in", "each count in").replace("<pad>", "<{pad}>").replace("halved(2 * side)", "side")
    (project.spec / "small.kata").write_text(text)
    code = compile_project(project)[Path("own_images") / "small" / "__init__.py"].decode()
    space: dict[str, object] = {}
    exec(compile(code, "small", "exec", dont_inherit=True), space)
    pipelines = space["PIPELINES"]
    assert isinstance(pipelines, dict)
    check_counts(pipelines["small"], images_in(text)["small"], Size(3, 4))
