package import NIOCore
package import PushTypes

/// Decides how the service's end of one device link proceeds.
///
/// Connect → authenticate → connected. Until the device is authenticated nothing else is done for it; what it sends
/// meanwhile waits, up to a limit. Time is passed in: the owner asks for ``nextDeadline`` and calls ``tick(now:)``.
package struct DeviceLinkServerStateMachine: Sendable {
    package struct Limits: Sendable {
        /// From the first byte to a complete *Connect*. Default 15 s.
        package var connect: Duration = .seconds(15)
        /// Without any packet from the device. Default 30 min, as keep-alives come far more often.
        package var idle: Duration = .seconds(30 * 60)
        /// Packets kept while the certificate is checked. Default 32.
        package var waiting = 32

        package init() {}
    }

    package enum Action: Hashable, Sendable {
        /// Check the proof of identity, then call ``authenticated(baseToken:isNew:now:)`` or ``refused(now:)``.
        case authenticate(DeviceLinkConnect)
        case send(DeviceLinkPacket)
        /// The set of topics is new: deliver what is stored for them.
        case subscribe(DeviceLinkFilter)
        /// Mint a token and answer with *Scoped token response*.
        case mint(DeviceLinkTokenRequest)
        case acknowledged(DeviceLinkAcknowledgement)
        case stateChanged(DeviceLinkState)
        /// Follow a channel or not, and answer.
        case channel(DeviceLinkChannelRequest)
        /// Nothing follows.
        case close(CloseReason)
    }

    package enum CloseReason: String, Hashable, Sendable {
        case malformedPacket = "malformed packet"
        case connectTimeout = "no Connect in time"
        case idleTimeout = "no packet for too long"
        case notConnected = "first packet was not Connect"
        case connectedTwice = "second Connect"
        case refused = "identity refused"
        case tooManyWaiting = "too many packets before the answer to Connect"
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

    /// When ``tick(now:)`` has something to do; `nil` once closed.
    package var nextDeadline: Timestamp? {
        switch self.state {
        case .awaitingConnect(let deadline), .authenticating(_, let deadline), .connected(let deadline): deadline
        case .closed: nil
        }
    }

    package var isConnected: Bool {
        if case .connected = self.state { true } else { false }
    }

    package mutating func received(_ bytes: ByteBuffer, now: Timestamp) -> [Action] {
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
                actions += self.received(packet, now: now)
                if case .closed = self.state { return actions }
            }
        } catch {
            return actions + self.close(.malformedPacket)
        }
        // An idle connection holds no buffer; half a packet is kept in one of its own size.
        self.received = self.received.readableBytes == 0 ? ByteBuffer() : ByteBuffer(buffer: self.received.slice())
        return actions
    }

    /// The certificate and its proof are good. `isNew` says whether the device must be told its base token.
    package mutating func authenticated(
        baseToken: [UInt8],
        isNew: Bool,
        serverTime: Timestamp? = nil,
        now: Timestamp
    ) -> [Action] {
        guard case .authenticating(let waiting, _) = self.state else { return [] }
        self.state = .connected(deadline: now.advanced(by: self.limits.idle))
        let response = DeviceLinkConnectResponse(
            status: .ok,
            baseToken: isNew ? baseToken : nil,
            serverTime: serverTime ?? now
        )
        var actions: [Action] = [.send(response.packet)]
        for packet in waiting {
            actions += self.received(packet, now: now)
            if case .closed = self.state { break }
        }
        return actions
    }

    /// The certificate or its proof is not good.
    package mutating func refused(now: Timestamp) -> [Action] {
        guard case .authenticating = self.state else { return [] }
        return [.send(DeviceLinkConnectResponse(status: .refused, serverTime: now).packet)] + self.close(.refused)
    }

    package mutating func tick(now: Timestamp) -> [Action] {
        guard let deadline = self.nextDeadline, deadline <= now else { return [] }
        return self.close(self.isConnected ? .idleTimeout : .connectTimeout)
    }

    private mutating func received(_ packet: DeviceLinkPacket, now: Timestamp) -> [Action] {
        switch self.state {
        case .awaitingConnect(let deadline):
            guard packet.command == DeviceLinkCommand.connect.rawValue else {
                return self.close(.notConnected)
            }
            self.state = .authenticating(waiting: [], deadline: deadline)
            return [.authenticate(DeviceLinkConnect(packet))]
        case .authenticating(var waiting, let deadline):
            guard waiting.count < self.limits.waiting else { return self.close(.tooManyWaiting) }
            waiting.append(packet)
            self.state = .authenticating(waiting: waiting, deadline: deadline)
            return []
        case .connected:
            self.state = .connected(deadline: now.advanced(by: self.limits.idle))
            return self.act(on: packet)
        case .closed:
            return []
        }
    }

    /// Unknown commands are ignored; a known one that lacks a required field ends the connection.
    private mutating func act(on packet: DeviceLinkPacket) -> [Action] {
        switch DeviceLinkCommand(rawValue: packet.command) {
        case .connect:
            return self.close(.connectedTwice)
        case .filter:
            return DeviceLinkFilter(packet).map { [.subscribe($0)] } ?? self.close(.tooManyTopics)
        case .messageAck:
            return DeviceLinkAcknowledgement(packet).map { [.acknowledged($0)] } ?? self.close(.malformedPacket)
        case .keepAlive:
            return [.send(DeviceLinkPacket(command: .keepAliveAck))]
        case .scopedToken:
            return DeviceLinkTokenRequest(packet).map { [.mint($0)] } ?? self.close(.malformedPacket)
        case .setState:
            guard let state = packet.integer(1, as: UInt8.self).flatMap(DeviceLinkState.init(rawValue:)) else {
                return []
            }
            return [.stateChanged(state)]
        case .channel:
            return DeviceLinkChannelRequest(packet).map { [.channel($0)] } ?? self.close(.malformedPacket)
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
