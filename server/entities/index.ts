import { BroadcastMessage } from './broadcast-message.ts';
import { Build, PendingBuild, TagSet } from './build.ts';
import { CiVariable, FormerValue, Trigger } from './ci-variable.ts';
import { Email } from './email.ts';
import { Event } from './event.ts';
import { ExternalStatus } from './external-status.ts';
import { Hook, HookDelivery } from './hook.ts';
import { Identity } from './identity.ts';
import { Issue } from './issue.ts';
import { Key, ProjectDeployKey } from './key.ts';
import { IssueLabel, Label, MergeRequestLabel } from './label.ts';
import { GroupMember, ProjectMember, ProjectShare } from './member.ts';
import { MergeRequest } from './merge-request.ts';
import { Milestone } from './milestone.ts';
import { Namespace } from './namespace.ts';
import { Note } from './note.ts';
import { NotificationSetting } from './notification-setting.ts';
import { OauthApplication, OauthCode, OauthToken } from './oauth.ts';
import { Pipeline, PipelineJob } from './pipeline.ts';
import { Project } from './project.ts';
import { ProjectImport } from './project-import.ts';
import { ProtectedBranch } from './protected-branch.ts';
import { Push } from './push.ts';
import { Release } from './release.ts';
import { Runner, RunnerProject } from './runner.ts';
import { Settings } from './settings.ts';
import { Throttle, WebSession } from './sign-in.ts';
import { Snippet } from './snippet.ts';
import { ProjectCount, Star } from './star.ts';
import { Mention, Subscription } from './subscription.ts';
import { Trace, TracePart } from './trace.ts';
import { Upload } from './upload.ts';
import { User } from './user.ts';
import { WorkingServer } from './working-server.ts';

/** Every table of the product. */
export const entities = [
  BroadcastMessage,
  Build,
  CiVariable,
  Email,
  Event,
  ExternalStatus,
  FormerValue,
  GroupMember,
  Hook,
  HookDelivery,
  Identity,
  Issue,
  IssueLabel,
  Key,
  Label,
  Mention,
  MergeRequest,
  MergeRequestLabel,
  Milestone,
  Namespace,
  Note,
  NotificationSetting,
  OauthApplication,
  OauthCode,
  OauthToken,
  PendingBuild,
  Pipeline,
  PipelineJob,
  Project,
  ProjectCount,
  ProjectDeployKey,
  ProjectImport,
  ProjectMember,
  ProjectShare,
  ProtectedBranch,
  Push,
  Release,
  Runner,
  RunnerProject,
  Settings,
  Snippet,
  Star,
  Subscription,
  TagSet,
  Throttle,
  Trace,
  TracePart,
  Trigger,
  Upload,
  User,
  WebSession,
  WorkingServer,
];
