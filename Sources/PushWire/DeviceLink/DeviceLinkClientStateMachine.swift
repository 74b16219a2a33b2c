package import NIOCore
package import PushTypes

/// Decides how the device's end of the link proceeds: *Connect*, keep-alives, scoped tokens, messages.
///
/// Time is passed in: the owner asks for ``nextDeadline`` and calls ``tick(now:)``.
package struct DeviceLinkClientStateMachine: Sendable {
    package struct Limits: Sendable {
        /// From *Connect* to its response. Default 15 s.
        package var connect: Duration = .seconds(15)
        /// Between keep-alives. Default 30 s.
        package var keepAlive: Duration = .seconds(30)
        /// From a keep-alive to its answer. Default 15 s.
        package var keepAliveAnswer: Duration = .seconds(15)

        package init() {}
    }

    package enum Action: Hashable, Sendable {
        case send(DeviceLinkPacket)
        /// The service accepted the device. `baseToken` is there when it is new or has changed: keep it.
        case connected(baseToken: [UInt8]?)
        /// Take care of it, then send its acknowledgement.
        case deliver(DeviceLinkMessage)
        case scopedToken(DeviceLinkTokenResponse)
        /// Nothing was kept for this token while the device was away.
        case nothingStored(token: [UInt8])
        /// Whether the device follows a channel now.
        case channel(DeviceLinkChannelResponse)
        case close(CloseReason)
    }

    package enum CloseReason: String, Hashable, Sendable {
        case malformedPacket = "malformed packet"
        case connectTimeout = "no answer to Connect"
        case keepAliveTimeout = "no answer to a keep-alive"
        case refused = "refused by the service"
        case unexpectedPacket = "packet before the answer to Connect"
    }

    private enum State: Sendable {
        case idle
        case connecting(deadline: Timestamp)
        case connected(nextKeepAlive: Timestamp)
        case awaitingKeepAliveAnswer(deadline: Timestamp)
        case closed
    }

    private let limits: Limits
    private var state = State.idle
    private var received = ByteBuffer()

    package init(limits: Limits = Limits()) {
        self.limits = limits
    }

    /// When ``tick(now:)`` has something to do.
    package var nextDeadline: Timestamp? {
        switch self.state {
        case .connecting(let time), .connected(let time), .awaitingKeepAliveAnswer(let time): time
        case .idle, .closed: nil
        }
    }

    package mutating func start(_ connect: DeviceLinkConnect, now: Timestamp) -> [Action] {
        guard case .idle = self.state else { return [] }
        self.state = .connecting(deadline: now.advanced(by: self.limits.connect))
        return [.send(connect.packet)]
    }

    package mutating func received(_ bytes: ByteBuffer, now: Timestamp) -> [Action] {
        if case .closed = self.state { return [] }
        self.received.writeImmutableBuffer(bytes)
        var actions: [Action] = []
        do {
            while let packet = try DeviceLinkPacket.read(from: &self.received) {
                actions += self.received(packet, now: now)
                if case .closed = self.state { return actions }
            }
        } catch {
            return actions + self.close(.malformedPacket)
        }
        self.received.discardReadBytes()
        return actions
    }

    package mutating func tick(now: Timestamp) -> [Action] {
        guard let deadline = self.nextDeadline, deadline <= now else { return [] }
        switch self.state {
        case .connecting:
            return self.close(.connectTimeout)
        case .connected:
            self.state = .awaitingKeepAliveAnswer(deadline: now.advanced(by: self.limits.keepAliveAnswer))
            return [.send(DeviceLinkPacket(command: .keepAlive))]
        case .awaitingKeepAliveAnswer:
            return self.close(.keepAliveTimeout)
        case .idle, .closed:
            return []
        }
    }

    private mutating func received(_ packet: DeviceLinkPacket, now: Timestamp) -> [Action] {
        if case .connecting = self.state {
            return self.receivedFirst(packet, now: now)
        }
        // Any packet shows that the service is alive.
        self.state = .connected(nextKeepAlive: now.advanced(by: self.limits.keepAlive))
        switch DeviceLinkCommand(rawValue: packet.command) {
        case .message:
            return DeviceLinkMessage(packet).map { [.deliver($0)] } ?? self.close(.malformedPacket)
        case .scopedTokenResponse:
            return DeviceLinkTokenResponse(packet).map { [.scopedToken($0)] } ?? self.close(.malformedPacket)
        case .noStorage:
            return [.nothingStored(token: packet.bytes(1) ?? [])]
        case .channelResponse:
            return DeviceLinkChannelResponse(packet).map { [.channel($0)] } ?? self.close(.malformedPacket)
        case .connect, .connectResponse, .filter, .messageAck, .keepAlive, .keepAliveAck, .scopedToken, .setState,
            .channel, nil:
            return []
        }
    }

    private mutating func receivedFirst(_ packet: DeviceLinkPacket, now: Timestamp) -> [Action] {
        guard packet.command == DeviceLinkCommand.connectResponse.rawValue else { return self.close(.unexpectedPacket) }
        guard let response = DeviceLinkConnectResponse(packet) else { return self.close(.malformedPacket) }
        guard response.status == .ok else { return self.close(.refused) }
        self.state = .connected(nextKeepAlive: now.advanced(by: self.limits.keepAlive))
        return [.connected(baseToken: response.baseToken)]
    }

    private mutating func close(_ reason: CloseReason) -> [Action] {
        self.state = .closed
        self.received.clear()
        return [.close(reason)]
    }
}
