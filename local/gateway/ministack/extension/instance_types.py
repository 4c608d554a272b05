"""The types of instances that can run here, where they are offered, and what they cost."""

_CLOCKS = {"5": (3.1, 4750, False), "6i": (3.5, 10000, True), "7i": (3.2, 10000, True)}
# Hourly list prices in us-east-1, in US dollars (aws/karpenter-provider-aws v1.14.1, zz_generated.pricing_aws.go, of 6 July 2026).
_PRICES = {
    "c5.large": 0.085, "c6i.large": 0.085, "c7i.large": 0.08925, "m5.large": 0.096, "m6i.large": 0.096, "m7i.large": 0.1008,
    "r5.large": 0.126, "r6i.large": 0.126, "r7i.large": 0.1323,
}
# Whose price is told, and of which nothing runs here.
METAL = {"c5.metal": 4.08}
_MEMORY = {"c": 4096, "m": 8192, "r": 16384}
_VCPUS = 2
# Amazon VPC CNI, vpc_ip_limits: three interfaces with ten addresses each.
_INTERFACES, _ADDRESSES = 3, 10


def _described(name):
    clock, bandwidth, encrypts = _CLOCKS[name[1:].partition(".")[0]]
    # Of this generation c5 alone has another processor.
    clock = 3.4 if name.startswith("c5.") else clock
    return {
        "price": _PRICES[name], "vcpus": _VCPUS, "memory": _MEMORY[name[0]], "clock": clock, "bandwidth": bandwidth, "encrypts": encrypts,
        "architecture": "x86_64",
    }


# By name (Karpenter's page "Instance Types", which it makes of EC2's own answers; the same of m5.large in its
# zz_generated.describe_instance_types.go). All have two processors: a node has no more than its machine, and every machine has these.
TYPES = {name: _described(name) for name in _PRICES}

# Filters by what they are about (EC2 API Reference, DescribeInstanceTypes).
_FILTERS = {
    "instance-type": lambda name, _: name,
    "processor-info.supported-architecture": lambda _, type_: type_["architecture"],
    "supported-virtualization-type": lambda _name, _type: "hvm",
    "current-generation": lambda _name, _type: "true",
    "bare-metal": lambda _name, _type: "false",
    "hypervisor": lambda _name, _type: "nitro",
    "vcpu-info.default-vcpus": lambda _, type_: str(type_["vcpus"]),
    "memory-info.size-in-mib": lambda _, type_: str(type_["memory"]),
}


def extend(_app, _secret):
    """ministack makes types up, ignores filters, and knows neither where types are offered nor what they cost as spot instances.

    A call that names another type than these gets ministack's own answer.
    """
    from ministack.services import ec2

    calls = ec2._ACTION_MAP
    describe = calls["DescribeInstanceTypes"]

    def zones():
        return [f"{ec2.get_region()}{letter}" for letter in "abc"]

    def refused(name):
        return ec2._error("InvalidParameterValue", f"The filter '{name}' is invalid", 400)

    def instance_types(params):
        asked, filters = ec2._parse_member_list(params, "InstanceType"), ec2._parse_filters(params)
        if any(name not in TYPES for name in asked):
            return describe(params)
        unknown = next((name for name in filters if name not in _FILTERS), None)
        if unknown:
            return refused(unknown)

        def is_asked_for(name, type_):
            told = {filter_: _FILTERS[filter_](name, type_) for filter_ in filters}
            return (not asked or name in asked) and all(
                any(ec2._glob_match(value, told[filter_]) for value in values) for filter_, values in filters.items()
            )

        items = "".join(_xml(name, type_) for name, type_ in TYPES.items() if is_asked_for(name, type_))
        return ec2._xml(200, "DescribeInstanceTypesResponse", f"<instanceTypeSet>{items}</instanceTypeSet>")

    def offerings(params):
        kind, filters = ec2._p(params, "LocationType") or "region", ec2._parse_filters(params)
        unknown = next((name for name in filters if name not in ("instance-type", "location")), None)
        if unknown:
            return refused(unknown)
        places = zones() if kind == "availability-zone" else [ec2.get_region()]
        items = "".join(
            f"<item><instanceType>{name}</instanceType><locationType>{kind}</locationType><location>{place}</location></item>"
            for name in TYPES for place in places
            if all(
                any(ec2._glob_match(value, name if filter_ == "instance-type" else place) for value in values)
                for filter_, values in filters.items()
            )
        )
        return ec2._xml(200, "DescribeInstanceTypeOfferingsResponse", f"<instanceTypeOfferingSet>{items}</instanceTypeOfferingSet>")

    def spot_prices(params):
        """The most that a spot instance costs, which is the price on demand (EC2 User Guide, "Spot Instance pricing history")."""
        asked = ec2._parse_member_list(params, "InstanceType")
        items = "".join(
            f"<item><instanceType>{name}</instanceType><productDescription>Linux/UNIX</productDescription>"
            f"<spotPrice>{type_['price']:.6f}</spotPrice><timestamp>{ec2._now_ts()}</timestamp><availabilityZone>{zone}</availabilityZone></item>"
            for name, type_ in TYPES.items() for zone in zones() if not asked or name in asked
        )
        return ec2._xml(200, "DescribeSpotPriceHistoryResponse", f"<spotPriceHistorySet>{items}</spotPriceHistorySet>")

    calls.update(
        DescribeInstanceTypes=instance_types, DescribeInstanceTypeOfferings=offerings, DescribeSpotPriceHistory=spot_prices,
    )


def _xml(name, type_):
    """As EC2 describes it, as far as anybody here reads it."""
    interfaces = f"<maximumNetworkInterfaces>{_INTERFACES}</maximumNetworkInterfaces>"
    return (
        f"<item><instanceType>{name}</instanceType><currentGeneration>true</currentGeneration><freeTierEligible>false</freeTierEligible>"
        "<supportedUsageClasses><item>on-demand</item><item>spot</item></supportedUsageClasses>"
        "<supportedRootDeviceTypes><item>ebs</item></supportedRootDeviceTypes>"
        "<supportedVirtualizationTypes><item>hvm</item></supportedVirtualizationTypes><bareMetal>false</bareMetal><hypervisor>nitro</hypervisor>"
        f"<processorInfo><supportedArchitectures><item>{type_['architecture']}</item></supportedArchitectures>"
        f"<sustainedClockSpeedInGhz>{type_['clock']}</sustainedClockSpeedInGhz><manufacturer>Intel</manufacturer></processorInfo>"
        f"<vCpuInfo><defaultVCpus>{type_['vcpus']}</defaultVCpus><defaultCores>1</defaultCores><defaultThreadsPerCore>2</defaultThreadsPerCore>"
        f"</vCpuInfo><memoryInfo><sizeInMiB>{type_['memory']}</sizeInMiB></memoryInfo>"
        "<instanceStorageSupported>false</instanceStorageSupported><ebsInfo><ebsOptimizedSupport>default</ebsOptimizedSupport>"
        "<encryptionSupport>supported</encryptionSupport><ebsOptimizedInfo>"
        f"<maximumBandwidthInMbps>{type_['bandwidth']}</maximumBandwidthInMbps></ebsOptimizedInfo><nvmeSupport>required</nvmeSupport></ebsInfo>"
        f"<networkInfo>{interfaces}<maximumNetworkCards>1</maximumNetworkCards><defaultNetworkCardIndex>0</defaultNetworkCardIndex>"
        f"<networkCards><item><networkCardIndex>0</networkCardIndex>{interfaces}</item></networkCards>"
        f"<ipv4AddressesPerInterface>{_ADDRESSES}</ipv4AddressesPerInterface><ipv6Supported>true</ipv6Supported>"
        f"<enaSupport>required</enaSupport><efaSupported>false</efaSupported>"
        f"<encryptionInTransitSupported>{str(type_['encrypts']).lower()}</encryptionInTransitSupported></networkInfo>"
        "<placementGroupInfo><supportedStrategies><item>cluster</item><item>partition</item><item>spread</item></supportedStrategies>"
        "</placementGroupInfo><burstablePerformanceSupported>false</burstablePerformanceSupported></item>"
    )
