import ArgumentParser
import Benchmarking
import NIOCore
import NIOPosix
import PushDevice
import PushSender

/// Opens thousands of half-open connections, checks that pushes still arrive, and waits until all connections are closed.
///
/// Half of them send nothing, half the start of a TLS handshake. Half use the HTTP/2 listener, half the device link's.
struct Torture: AsyncParsableCommand {
    /// The first ten bytes of a TLS record of 512 bytes.
    private static let halfAHandshake: [UInt8] = [22, 3, 1, 2, 0, 1, 0, 1, 252, 3]
    /// The pause after the last connection was closed.
    private static let settling: Duration = .seconds(3)

    @OptionGroup var swarm: SwarmOptions
    @OptionGroup var pushes: PushOptions
    @Option(help: "Connections that are opened and left.") var connections = 10_000
    @Option(help: "Seconds after which the gateway must have closed them all.") var deadline = 20.0

    func run() async throws {
        let devices = try DeviceFile.read(self.swarm.file).prefix(self.swarm.devices)
        guard let authority = devices.first?.identity.serviceAuthority else { throw BenchmarkFailure("no devices") }
        let swarm = try Swarm(self.swarm, devices)
        try await swarm.connect()
        let before = try ProcessStatistics(pid: self.swarm.pid)

        let silent = ConnectionCounters(devices: 0)
        let start = Stamp.now
        try await self.open(silent)
        figure("torture_open", Double(Stamp.now - start) / 1e9, "s for \(self.connections) half-open connections")

        let pushed = Stamp.now
        let sender = try Provider.sender(self.pushes, authority: authority)
        let pushes = devices.enumerated().compactMap { index, device in
            device.token.map { Provider.push(Stamp(index), to: $0) }
        }
        try await Provider.send(pushes, with: sender)
        try await swarm.counters.wait(for: "a push for each device", seconds: 10) { $0.stamps.count == pushes.count }
        figure("torture_push", Double(Stamp.now - pushed) / 1e6, "ms to \(pushes.count) devices over a new connection")
        let with = try ProcessStatistics(pid: self.swarm.pid)
        guard silent.counts.open > 0 else { throw BenchmarkFailure("the connections were gone before the push") }

        try await silent.wait(for: "all half-open connections closed", seconds: self.deadline) { $0.open == 0 }
        figure("torture_closed", Double(Stamp.now - start) / 1e9, "s until all were closed")
        try await Task.sleep(for: Self.settling)
        let after = try ProcessStatistics(pid: self.swarm.pid)
        figure("torture_resident_before", before.residentKB, "kB")
        figure("torture_resident_with", with.residentKB, "kB")
        figure("torture_resident_after", after.residentKB, "kB")
        figure("torture_resident_kept", after.residentKB - before.residentKB, "kB")
        figure("torture_cpu", (after.cpuSeconds - before.cpuSeconds) * 1e6 / Double(self.connections), "us/connection")
        await sender.close()
        await swarm.disconnect()
    }

    /// Opens the connections and waits until the kernel has accepted them.
    private func open(_ counters: ConnectionCounters) async throws {
        let ports = [self.pushes.http2Port, self.swarm.courierPort]
        let connecting = (0..<self.connections).map { number in
            ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .connectTimeout(.seconds(60))
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let bytes = number / 2 % 2 == 0 ? [] : Self.halfAHandshake
                        try channel.pipeline.syncOperations.addHandler(SilentHandler(bytes, counters: counters))
                    }
                }
                .connect(host: "127.0.0.1", port: ports[number % 2])
        }
        for future in connecting { _ = try await future.get() }
    }
}

/// Sends its bytes and then nothing, until the server closes the connection.
private final class SilentHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let bytes: [UInt8]
    private let counters: ConnectionCounters

    init(_ bytes: [UInt8], counters: ConnectionCounters) {
        self.bytes = bytes
        self.counters = counters
    }

    func channelActive(context: ChannelHandlerContext) {
        self.counters.update { $0.open += 1 }
        if !self.bytes.isEmpty {
            context.writeAndFlush(Self.wrapOutboundOut(ByteBuffer(bytes: self.bytes)), promise: nil)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.counters.update { $0.open -= 1 }
    }

    /// Closes the connection after a reset.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
