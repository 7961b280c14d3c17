/** Small CI files that together use every key, each written for these tests. */
export const fuzzSamples: readonly string[] = [
  `# global settings
image: "gcc:12"
services: [redis, 'postgres:15']
before_script: [./configure]
after_script:
- make clean
variables: {CC: clang, LEVEL: 3, 'EMPTY': }
cache: {key: "$X", paths: [.cache/], untracked: yes}
check: {script: [make, 'echo "a: b"']}
`,
  `.base: &base
  image: alpine
  only: &refs
    - master
    - /^v[0-9]+$/
one:
  <<: *base
  script: x
two:
  image: own
  <<: [*base, *base]
  script: &steps [a, b]
  except: *refs
three:
  script: [*steps]
`,
  `.a: &a {tags: [x]}
.b: &b
  <<: *a
  when: always
job:
  <<: *a
  <<: *b
  script:
    - |
      if true; then
        echo yes
      fi
    - >
      folded
      text
`,
  `stages: [
  a, b
]
"größe ✓":
  stage: a
  script: make
  artifacts:
    name: "$N"
    paths: [out/, "*.log"]
    untracked: false
    when: on_failure
    expire_in: 3 weeks
later:
  stage: b
  dependencies: ["größe ✓"]
  script: "x
    y"
`,
  `job:
  environment: {name: review/x, url: u}
  coverage: '/total: (\\d+)%/'
  when: manual
  allow_failure: on
  only: {refs: [tags@a/b]}
  script: x
`,
  `types: [one, two]
:image: old
job 1:
  type: one
  script:
  - echo hi # comment
  - true
  - [nested, [1.50]]
  variables:
    A: {value: x}
    B: 0755
  cache:
`,
  '{"a": {"script": ["make"], "tags": ["x"]}, "b": {"script": "y", "dependencies": []}}\n',
  'a: &a\r\n  script: !mine x\r\nb:\r\n  <<: *a\r\n  only: [tags]\r\n---\r\nno: [\r\n',
];
