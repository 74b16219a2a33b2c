import ArgumentParser
import Benchmarking
import NIOCore

/// Measures the memory of a server for idle connections.
struct Idle: AsyncParsableCommand {
    /// The pause before each sample, after connections were opened or closed.
    private static let settling: Duration = .seconds(3)

    @OptionGroup var swarm: SwarmOptions
    @Option(help: "Port of an MQTT broker with TLS, to be measured instead of the gateway; --pid is the broker's.")
    var mqttPort: Int?
    @Option(help: "How many connect at the same time.") var together = Int.max
    @Option(help: "The server's name in the figures.") var name: String

    func run() async throws {
        let clients: any ClientGroup
        if let mqttPort {
            clients = MQTTClients(port: mqttPort, count: self.swarm.devices)
        } else {
            clients = try Swarm(self.swarm, DeviceFile.read(self.swarm.file).prefix(self.swarm.devices))
        }
        let before = try self.sample()
        try await clients.connectAll(together: self.together)
        try await Task.sleep(for: Self.settling)
        let with = try self.sample()
        await clients.disconnect()
        try await Task.sleep(for: Self.settling)
        self.report(before, with, after: try self.sample())
    }

    private struct Sample {
        var server: ProcessStatistics
        var kernel: KernelStatistics
    }

    private func sample() throws -> Sample {
        Sample(server: try ProcessStatistics(pid: self.swarm.pid), kernel: try KernelStatistics())
    }

    private func report(_ before: Sample, _ with: Sample, after: Sample) {
        let count = Double(self.swarm.devices)
        func perConnection(_ what: String, _ value: (Sample) -> Double) {
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

/// Clients that connect and disconnect together.
protocol ClientGroup: Sendable {
    /// Connects all and waits until the server has accepted them.
    func connectAll(together: Int) async throws
    func disconnect() async
}

extension Swarm: ClientGroup {
    func connectAll(together: Int) async throws {
        try await self.connect(together: together)
    }
}
