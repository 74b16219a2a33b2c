import NIOCore
import PushTypes
import PushWire

/// Many devices in one process, each with a TLS connection of its own.
final class Swarm: Sendable {
    let counters: ConnectionCounters
    private let devices: [PreparedDevice]
    private let connections: ClientConnections

    init(port: Int, devices: [PreparedDevice]) {
        self.devices = devices
        self.counters = ConnectionCounters(devices: devices.count)
        self.connections = ClientConnections(port: port, alpn: ["apns-security-v3"], counters: self.counters)
    }

    convenience init(_ options: SwarmOptions, _ devices: ArraySlice<BenchmarkDevice>) throws {
        self.init(port: options.courierPort, devices: try devices.map { try $0.prepared() })
    }

    /// Connects all devices. Their signatures are made before the measurement starts.
    /// - Parameter together: the number of devices that connect at the same time; all by default.
    /// - Returns: the start, in nanoseconds of the monotonic clock. All devices are ready.
    @discardableResult
    func connect(together: Int = .max) async throws -> UInt64 {
        var announcement = ByteBuffer()
        DeviceLinkFilter(enabled: [TopicHash(Provider.topic)]).packet.write(to: &announcement)
        return try await self.connect(together: together, announcement: announcement)
    }

    /// Connects all devices and requests their device tokens.
    func fetchTokens() async throws -> [DeviceToken?] {
        var announcement = ByteBuffer()
        DeviceLinkTokenRequest(baseToken: nil, topic: TopicHash(Provider.topic)).packet.write(to: &announcement)
        try await self.connect(together: .max, announcement: announcement)
        return self.counters.counts.tokens
    }

    @discardableResult
    private func connect(together: Int, announcement: ByteBuffer) async throws -> UInt64 {
        let connects = try self.devices.map { try $0.connect() }
        let counters = self.counters
        return try await self.connections.open(connects.count, together: together) {
            DeviceHandler(index: $0, connect: connects[$0], announcement: announcement, counters: counters)
        }
    }

    func disconnect() async {
        await self.connections.close()
    }
}
