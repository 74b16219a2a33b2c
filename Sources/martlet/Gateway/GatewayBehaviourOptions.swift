import ArgumentParser
import Configuration
import PushGateway

/// How a gateway treats providers, beyond what is right.
struct GatewayBehaviourOptions: ParsableArguments {
    @Option(
        help: """
            A fault from the start on, such as reason=TooManyRequests,percent=20; repeat it for several \
            (gateway.faults). 'martlet gateway fault' adds and removes them later.
            """
    )
    var fault: [String] = []

    @Option(help: "A JSON file of faults (gateway.faultsFile).")
    var faults: String?

    @Flag(help: "Refuse what Apple calls an error without saying how it answers (gateway.strict).")
    var strict = false

    var settings: [String: ConfigValue?] {
        [
            "gateway.faults": self.fault.setting(), "gateway.faultsFile": self.faults.setting(),
            "gateway.strict": self.strict.setting(),
        ]
    }

    func apply(_ settings: Settings, to configuration: inout GatewayConfiguration) {
        configuration.faults = settings.strings("gateway.faults") ?? []
        configuration.faultsFile = settings.string("gateway.faultsFile")
        configuration.isStrict = settings.flag("gateway.strict")
    }
}
