import ArgumentParser

/// The device side of `make bench-gateway`: thousands of devices in one process. Prints lines `figure NAME VALUE UNIT`.
@main
struct GatewayBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Devices and pushes for measuring a gateway.",
        subcommands: [Activate.self, Intake.self, Idle.self, FanOut.self, Storm.self, Torture.self, Flood.self]
    )
}

/// The options for the devices and the gateway.
struct SwarmOptions: ParsableArguments {
    @Option(help: "File with the activated devices.") var file: String
    @Option(help: "How many of them take part.") var devices: Int
    @Option(help: "Port of the courier door on localhost.") var courierPort: Int
    @Option(help: "Process id of the gateway.") var pid: Int
}

/// The options for sending to the gateway.
struct PushOptions: ParsableArguments {
    @Option(help: "Port of the HTTP/2 door on localhost.") var http2Port: Int
    @Option(help: "The provider's .p8 file.") var key: String
    @Option(help: "Requests in flight.") var inFlight = 1000
}
