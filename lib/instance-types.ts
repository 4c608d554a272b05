/** Graviton families have a g behind the generation: m7g, t4g, c6gn. The first one, a1, came before that rule. */
const arm = /^(a1|[a-z]+\d+[a-z]*g[a-z]*)(-|\.)/;

/** Whether an EC2 instance type has an Arm processor, by its name. */
export const isArm = (instanceType: string): boolean => arm.test(instanceType);
