import NIOCore
import PushTypes
import PushWire

/// Many devices in this process, each with a TLS connection of its own.
final class Swarm: Sendable {
    let tally: Tally
    private let devices: [PreparedDevice]
    private let connections: ClientConnections

    init(port: Int, devices: [PreparedDevice]) {
        self.devices = devices
        self.tally = Tally(devices: devices.count)
        self.connections = ClientConnections(port: port, alpn: ["apns-security-v3"], tally: self.tally)
    }

    convenience init(_ options: SwarmOptions, _ devices: ArraySlice<BenchmarkDevice>) throws {
        self.init(port: options.courierPort, devices: try devices.map { try $0.prepared() })
    }

    /// Connects all; the proofs of identity are made before the clock starts.
    /// - Parameter together: how many may be connecting at the same time; all of them by default.
    /// - Returns: when the connecting began, nanoseconds of the monotonic clock. All are ready.
    @discardableResult
    func connect(together: Int = .max) async throws -> UInt64 {
        var announcement = ByteBuffer()
        DeviceLinkFilter(enabled: [TopicHash(Provider.topic)]).packet.write(to: &announcement)
        return try await self.connect(together: together, announcement: announcement)
    }

    /// Connects all and asks for their device tokens.
    func fetchTokens() async throws -> [DeviceToken?] {
        var announcement = ByteBuffer()
        DeviceLinkTokenRequest(baseToken: nil, topic: TopicHash(Provider.topic)).packet.write(to: &announcement)
        try await self.connect(together: .max, announcement: announcement)
        return self.tally.counts.tokens
    }

    @discardableResult
    private func connect(together: Int, announcement: ByteBuffer) async throws -> UInt64 {
        let connects = try self.devices.map { try $0.connect() }
        let tally = self.tally
        return try await self.connections.open(connects.count, together: together) {
            DeviceHandler(index: $0, connect: connects[$0], announcement: announcement, tally: tally)
        }
    }

    func disconnect() async {
        await self.connections.close()
    }
}
