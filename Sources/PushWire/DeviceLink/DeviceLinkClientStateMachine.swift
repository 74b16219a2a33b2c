package import NIOCore
package import PushTypes

/// A state machine without I/O for the device's side of a device link: *Connect*, keep-alives, device tokens and
/// messages (device link reference 5). The method for an event returns the actions to perform, in order. The state
/// machine has no clock: the owner calls ``tick(now:)`` at ``nextDeadline``.
package struct DeviceLinkClientStateMachine: ~Copyable, Sendable {
    package struct Limits: Sendable {
        /// The maximum time from *Connect* to its response. After that, the link is closed. Default 15 s.
        package var connect: Duration = .seconds(15)
        /// The interval between keep-alives. Default 30 s.
        package var keepAlive: Duration = .seconds(30)
        /// The maximum time from a keep-alive to its acknowledgement. After that, the link is closed. Default 15 s.
        package var keepAliveTimeout: Duration = .seconds(15)

        package init() {}
    }

    package enum Action: Hashable, Sendable {
        case send(DeviceLinkPacket)
        /// Report that the server has accepted the device. Store `baseToken`, by which the server identifies the
        /// device, for the next *Connect*. It is `nil` if the device already has it.
        case connected(baseToken: [UInt8]?)
        /// Process the message, then send its acknowledgement.
        case deliver(DeviceLinkMessage)
        case scopedToken(DeviceLinkTokenResponse)
        /// Report that the server stored no message for this device token while the device was offline.
        case nothingStored(token: [UInt8])
        case channel(DeviceLinkChannelResponse)
        case close(CloseReason)
    }

    package enum CloseReason: String, Hashable, Sendable {
        case malformedPacket = "malformed packet"
        case connectTimeout = "no response to Connect"
        case keepAliveTimeout = "no response to a keep-alive"
        case rejected = "rejected by the push service"
        case unexpectedPacket = "packet before the response to Connect"
    }

    private enum State: Sendable {
        case idle, closed
        case connecting(deadline: Timestamp)
        case connected(nextKeepAlive: Timestamp)
        case awaitingKeepAliveAck(deadline: Timestamp)
    }

    private let limits: Limits
    private var state = State.idle
    private var received = ByteBuffer()

    package init(limits: Limits = Limits()) { self.limits = limits }

    /// The time at which ``tick(now:)`` must be called, or `nil` before ``start(_:now:)`` and once the link is closed.
    package var nextDeadline: Timestamp? {
        switch self.state {
        case .connecting(let time), .connected(let time), .awaitingKeepAliveAck(let time): time
        case .idle, .closed: nil
        }
    }

    package mutating func start(_ connect: DeviceLinkConnectRequest, now: Timestamp) -> [Action] {
        guard case .idle = self.state else { return [] }
        self.state = .connecting(deadline: now.advanced(by: self.limits.connect))
        return [.send(connect.packet)]
    }

    package mutating func receive(_ bytes: ByteBuffer, now: Timestamp) -> [Action] {
        if case .closed = self.state { return [] }
        self.received.writeImmutableBuffer(bytes)
        var actions: [Action] = []
        do {
            while let packet = try DeviceLinkPacket.read(from: &self.received) {
                actions += self.receive(packet, now: now)
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
        case .connecting: return self.close(.connectTimeout)
        case .connected:
            self.state = .awaitingKeepAliveAck(deadline: now.advanced(by: self.limits.keepAliveTimeout))
            return [.send(DeviceLinkPacket(command: .keepAlive))]
        case .awaitingKeepAliveAck: return self.close(.keepAliveTimeout)
        case .idle, .closed: return []
        }
    }

    private mutating func receive(_ packet: DeviceLinkPacket, now: Timestamp) -> [Action] {
        switch self.state {
        case .idle: return self.close(.unexpectedPacket)
        case .connecting: return self.receiveFirst(packet, now: now)
        case .connected, .awaitingKeepAliveAck, .closed: break
        }
        // Any packet shows that the server is alive.
        self.state = .connected(nextKeepAlive: now.advanced(by: self.limits.keepAlive))
        switch DeviceLinkCommand(rawValue: packet.command) {
        case .message: return DeviceLinkMessage(packet).map { [.deliver($0)] } ?? self.close(.malformedPacket)
        case .scopedTokenResponse:
            return DeviceLinkTokenResponse(packet).map { [.scopedToken($0)] } ?? self.close(.malformedPacket)
        case .noStorage: return [.nothingStored(token: packet.bytes(1) ?? [])]
        case .channelResponse:
            return DeviceLinkChannelResponse(packet).map { [.channel($0)] } ?? self.close(.malformedPacket)
        case .connect, .connectResponse, .filter, .messageAck, .keepAlive, .keepAliveAck, .scopedToken, .setState,
            .channel, nil:
            return []
        }
    }

    private mutating func receiveFirst(_ packet: DeviceLinkPacket, now: Timestamp) -> [Action] {
        guard packet.command == DeviceLinkCommand.connectResponse.rawValue else { return self.close(.unexpectedPacket) }
        guard let response = DeviceLinkConnectResponse(packet) else { return self.close(.malformedPacket) }
        guard response.status == .ok else { return self.close(.rejected) }
        guard (response.baseToken?.count ?? 0) <= DeviceLinkConnectResponse.maximumBaseToken else {
            return self.close(.malformedPacket)
        }
        self.state = .connected(nextKeepAlive: now.advanced(by: self.limits.keepAlive))
        return [.connected(baseToken: response.baseToken)]
    }

    private mutating func close(_ reason: CloseReason) -> [Action] {
        self.state = .closed
        self.received.clear()
        return [.close(reason)]
    }
}
