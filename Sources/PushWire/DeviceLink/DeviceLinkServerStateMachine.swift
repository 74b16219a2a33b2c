package import NIOCore
package import PushTypes

/// A state machine without I/O for the server's side of one device link (device link reference 5).
///
/// The link first waits for *Connect*, then for the authentication of the device, and is then connected. Packets that
/// the device sends before it is authenticated are queued, up to a limit.
///
/// The method for an event returns the actions to perform, in order. The state machine has no clock: the owner calls
/// ``tick(now:)`` at ``nextDeadline``.
package struct DeviceLinkServerStateMachine: ~Copyable, Sendable {
    package struct Limits: Sendable {
        /// The maximum time from the first byte until authentication. After that, the link is closed. Default 15 s.
        package var connect: Duration = .seconds(15)
        /// The maximum time without a packet from the device. After that, the link is closed. Keep-alives arrive more
        /// often. Default 30 min.
        package var idle: Duration = .seconds(30 * 60)
        /// The maximum number of packets that are queued during authentication. Further ones close the link. Default
        /// 32.
        package var waiting = 32

        package init() {}
    }

    package enum Action: Hashable, Sendable {
        /// Check the device's identity, and then call ``authenticated(baseToken:isNew:serverTime:now:)`` or
        /// ``rejected(serverTime:)``.
        case authenticate(DeviceLinkConnectRequest)
        case send(DeviceLinkPacket)
        /// Subscribe the device to a new set of topics, and deliver the messages that are stored for these topics.
        case subscribe(DeviceLinkFilter)
        /// Issue a device token, and respond with *Scoped token response*.
        case mint(DeviceLinkTokenRequest)
        case acknowledged(DeviceLinkAcknowledgement)
        case stateChanged(DeviceLinkState)
        /// Follow or unfollow a broadcast channel, and send the response.
        case channel(DeviceLinkChannelRequest)
        case close(CloseReason)
    }

    package enum CloseReason: String, Hashable, Sendable {
        case malformedPacket = "malformed packet"
        case connectTimeout = "no Connect in time"
        case idleTimeout = "no packet for too long"
        case notConnected = "first packet was not Connect"
        case connectedTwice = "second Connect"
        case rejected = "identity rejected"
        case tooManyWaiting = "too many packets before the response to Connect"
        case tooManyTopics = "too many topics in a filter"
    }

    private enum State: Sendable {
        case awaitingConnect(deadline: Timestamp)
        case authenticating(waiting: [DeviceLinkPacket], deadline: Timestamp)
        case connected(deadline: Timestamp)
        case closed
    }

    private let limits: Limits
    private var state: State
    private var received = ByteBuffer()

    package init(limits: Limits = Limits(), now: Timestamp) {
        self.limits = limits
        self.state = .awaitingConnect(deadline: now.advanced(by: limits.connect))
    }

    /// The time at which ``tick(now:)`` must be called, or `nil` once the link is closed.
    package var nextDeadline: Timestamp? {
        switch self.state {
        case .awaitingConnect(let deadline), .authenticating(_, let deadline), .connected(let deadline): deadline
        case .closed: nil
        }
    }

    package var isConnected: Bool { if case .connected = self.state { true } else { false } }

    package mutating func receive(_ bytes: ByteBuffer, now: Timestamp) -> [Action] {
        if case .closed = self.state { return [] }
        if self.received.readableBytes == 0 { self.received = bytes } else { self.received.writeImmutableBuffer(bytes) }
        var actions: [Action] = []
        do {
            while true {
                if self.isConnected, let ack = DeviceLinkAcknowledgement.read(from: &self.received) {
                    self.state = .connected(deadline: now.advanced(by: self.limits.idle))
                    actions.append(.acknowledged(ack))
                    continue
                }
                guard let packet = try DeviceLinkPacket.read(from: &self.received) else { break }
                actions += self.receive(packet, now: now)
                if case .closed = self.state { return actions }
            }
        } catch {
            return actions + self.close(.malformedPacket)
        }
        // An idle connection retains no buffer, and an incomplete packet is kept in a buffer of its own size.
        self.received = self.received.readableBytes == 0 ? ByteBuffer() : ByteBuffer(buffer: self.received.slice())
        return actions
    }

    /// Accepts the device, whose certificate and signature are valid.
    /// - Parameters:
    ///   - baseToken: The base token, by which the server identifies the device on later connections.
    ///   - isNew: Pass `true` if the base token is new, so that the response contains it.
    ///   - serverTime: The time of the wall clock, for the response.
    package mutating func authenticated(
        baseToken: [UInt8],
        isNew: Bool,
        serverTime: Timestamp,
        now: Timestamp
    ) -> [Action] {
        guard case .authenticating(let waiting, _) = self.state else { return [] }
        self.state = .connected(deadline: now.advanced(by: self.limits.idle))
        let response = DeviceLinkConnectResponse(
            status: .ok,
            baseToken: isNew ? baseToken : nil,
            serverTime: serverTime
        )
        var actions: [Action] = [.send(response.packet)]
        for packet in waiting {
            actions += self.receive(packet, now: now)
            if case .closed = self.state { break }
        }
        return actions
    }

    /// Rejects the device, whose certificate or signature is invalid.
    /// - Parameter serverTime: The time of the wall clock, for the response.
    package mutating func rejected(serverTime: Timestamp) -> [Action] {
        guard case .authenticating = self.state else { return [] }
        let response = DeviceLinkConnectResponse(status: .rejected, serverTime: serverTime)
        return [.send(response.packet)] + self.close(.rejected)
    }

    package mutating func tick(now: Timestamp) -> [Action] {
        guard let deadline = self.nextDeadline, deadline <= now else { return [] }
        return self.close(self.isConnected ? .idleTimeout : .connectTimeout)
    }

    private mutating func receive(_ packet: DeviceLinkPacket, now: Timestamp) -> [Action] {
        switch self.state {
        case .awaitingConnect(let deadline):
            guard packet.command == DeviceLinkCommand.connect.rawValue else { return self.close(.notConnected) }
            self.state = .authenticating(waiting: [], deadline: deadline)
            return [.authenticate(DeviceLinkConnectRequest(packet))]
        case .authenticating(var waiting, let deadline):
            guard waiting.count < self.limits.waiting else { return self.close(.tooManyWaiting) }
            waiting.append(packet)
            self.state = .authenticating(waiting: waiting, deadline: deadline)
            return []
        case .connected:
            self.state = .connected(deadline: now.advanced(by: self.limits.idle))
            return self.perform(packet)
        case .closed: return []
        }
    }

    /// Performs a command. An unknown command is ignored. A known one without a required field ends the connection.
    private mutating func perform(_ packet: DeviceLinkPacket) -> [Action] {
        switch DeviceLinkCommand(rawValue: packet.command) {
        case .connect: return self.close(.connectedTwice)
        case .filter: return DeviceLinkFilter(packet).map { [.subscribe($0)] } ?? self.close(.tooManyTopics)
        case .messageAck:
            return DeviceLinkAcknowledgement(packet).map { [.acknowledged($0)] } ?? self.close(.malformedPacket)
        case .keepAlive: return [.send(DeviceLinkPacket(command: .keepAliveAck))]
        case .scopedToken: return DeviceLinkTokenRequest(packet).map { [.mint($0)] } ?? self.close(.malformedPacket)
        case .setState:
            let state = packet.integer(1, as: UInt8.self).flatMap(DeviceLinkState.init(rawValue:))
            return state.map { [.stateChanged($0)] } ?? []
        case .channel: return DeviceLinkChannelRequest(packet).map { [.channel($0)] } ?? self.close(.malformedPacket)
        case .connectResponse, .message, .keepAliveAck, .noStorage, .scopedTokenResponse, .channelResponse, nil:
            return []
        }
    }

    private mutating func close(_ reason: CloseReason) -> [Action] {
        self.state = .closed
        self.received.clear()
        return [.close(reason)]
    }
}
