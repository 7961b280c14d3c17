/** Names of pictures that people use as votes; what is none of these is a comment. */
const pictures = new Set(
  `+1 -1 100 airplane alien angry anguished art astonished beer beers beetle blush bomb book boom broken_heart bug bulb
  cake cat checkered_flag clap coffee cold_sweat confetti_ball confounded confused construction cool cry crown
  crying_cat_face cupid dancer dart disappointed dizzy dog exclamation expressionless eyes facepalm fearful fire fireworks
  fist flushed frog frowning gem ghost gift grey_question grimacing grin grinning hammer heart heart_eyes heartbeat
  heavy_check_mark hourglass hugging hushed imp innocent joy key kiss kissing laughing link lock mag mask memo metal
  money_with_wings monkey moon mortar_board muscle mushroom nerd neutral_face no_entry no_good no_mouth ok ok_hand
  open_mouth package panda_face pencil penguin pensive point_down point_left point_right point_up poop pray pushpin
  question rabbit rage rainbow raised_hand raised_hands recycle relaxed relieved rewind robot rocket rose rotating_light
  sad satisfied scissors scream ship shit shrug skull sleeping sleepy smile smiley smirk snail snake snowflake sob
  sparkles speech_balloon star star2 stuck_out_tongue sunflower sunglasses sunny sweat sweat_smile tada thinking
  thought_balloon thumbsdown thumbsup tired_face trophy turtle umbrella unamused unicorn unlock up v vertical_traffic_light
  warning wastebasket watch wave weary whale white_check_mark wine_glass wink worried wrench x yum zap zzz`.split(
    /\s+/,
  ),
);

/** As notes keep them. */
export const votes = { up: 'thumbsup', down: 'thumbsdown' } as const;

const otherNames: Record<string, string> = { '+1': votes.up, '-1': votes.down };

/** The name of the picture that is all there is of a comment; null for a comment that says something. */
export function awardName(body: string): string | null {
  const name = /^\s*:([a-z0-9_+-]{1,40}):\s*$/.exec(body)?.[1];
  if (name === undefined || !pictures.has(name)) return null;
  return otherNames[name] ?? name;
}
