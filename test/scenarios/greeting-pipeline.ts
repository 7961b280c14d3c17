/** Order in the file is not the order of the stages; the words in capitals are filled in. */
const pipelineFile = `
stages: [build, test, deliver]
variables:
  GREETING: Hello
  KIND: of all
before_script:
  - echo "before $CI_BUILD_NAME"
after_script:
  - 'echo "after $CI_BUILD_NAME: $CI_JOB_STATUS"'

# The order in the file is not the order of the stages.
deliver:
  stage: deliver
  tags: [box]
  dependencies: [compile]
  script:
    - cat out/deep/greeting.txt
    - test -e out/empty.txt
    - wget -q -O - http://hearth-test-service:8080/ || echo no service out here

unit:
  stage: test
  tags: [box]
  services: [SERVICES]
  variables: { KIND: of the job }
  script:
    - echo "$KIND"
    - ASK

compile:
  stage: build
  tags: [box]
  script:
    - mkdir -p out/deep
    - echo "$GREETING, $(cat name.txt), from $CI_BUILD_REF of $CI_COMMIT_REF_NAME" > out/deep/greeting.txt
    - touch out/empty.txt other.txt
    - echo "my token is $CI_BUILD_TOKEN"
  artifacts:
    paths: [out/]

lint:
  stage: build
  tags: [box]
  allow_failure: true
  script:
    - echo linting
    - exit 3
    - echo never reached

release:
  stage: deliver
  tags: [box]
  only: [tags]
  script: ["false"]

branches but master:
  stage: build
  tags: [box]
  except: [master]
  script: ["false"]

alarm:
  stage: deliver
  tags: [box]
  when: on_failure
  script: ["false"]
`;

/** Jobs for a runner with the tag `box`: four that run, three that must not come to be. */
export function greetingPipeline(service: string | undefined): string {
  const ask = service ? 'wget -q -O - http://hearth-test-service:8080/' : 'true';
  return pipelineFile.replace('SERVICES', service ? `"${service}"` : '').replace('ASK', ask);
}
