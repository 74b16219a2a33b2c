import ArgumentParser
import NIOCore

/// Memory that a server keeps for connections on which nothing happens.
struct Idle: AsyncParsableCommand {
    /// After the storm, before each look.
    private static let settling: Duration = .seconds(3)

    @OptionGroup var swarm: SwarmOptions
    @Option(help: "Port of an MQTT broker with TLS, to be measured instead of the gateway; --pid is the broker's.")
    var mqttPort: Int?
    @Option(help: "How many connect at the same time.") var together = Int.max
    @Option(help: "The server's name in the figures.") var name: String

    func run() async throws {
        let crowd: any Crowd
        if let mqttPort {
            crowd = MQTTCrowd(port: mqttPort, count: self.swarm.devices)
        } else {
            crowd = try Swarm(self.swarm, DeviceFile.read(self.swarm.file).prefix(self.swarm.devices))
        }
        let before = try self.look()
        try await crowd.gather(together: self.together)
        try await Task.sleep(for: Self.settling)
        let with = try self.look()
        await crowd.disconnect()
        try await Task.sleep(for: Self.settling)
        self.report(before, with, after: try self.look())
    }

    private struct Look {
        var server: ProcessFigures
        var kernel: KernelFigures
    }

    private func look() throws -> Look {
        Look(server: try ProcessFigures(pid: self.swarm.pid), kernel: try KernelFigures())
    }

    private func report(_ before: Look, _ with: Look, after: Look) {
        let count = Double(self.swarm.devices)
        func perConnection(_ what: String, _ value: (Look) -> Double) {
            figure("idle_\(self.name)_\(what)", (value(with) - value(before)) / count, "kB/connection")
        }
        perConnection("resident") { $0.server.residentKB }
        perConnection("anonymous") { $0.server.anonymousKB }
        perConnection("kernel_slab_both_ends") { $0.kernel.slabKB }
        perConnection("kernel_unreclaimable_both_ends") { $0.kernel.unreclaimableKB }
        perConnection("kernel_socket_buffers_both_ends") { $0.kernel.socketKB }
        figure("idle_\(self.name)_resident_before", before.server.residentKB, "kB")
        figure("idle_\(self.name)_resident_connected", with.server.residentKB, "kB")
        figure("idle_\(self.name)_resident_after", after.server.residentKB, "kB")
        figure(
            "idle_\(self.name)_cpu",
            (with.server.cpuSeconds - before.server.cpuSeconds) * 1e6 / count,
            "us/connection"
        )
    }
}

/// Connections that come and go together.
protocol Crowd: Sendable {
    /// All are connected and known to the server.
    func gather(together: Int) async throws
    func disconnect() async
}

extension Swarm: Crowd {
    func gather(together: Int) async throws {
        try await self.connect(together: together)
    }
}
