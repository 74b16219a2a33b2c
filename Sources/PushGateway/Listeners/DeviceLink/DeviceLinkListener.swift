import Foundation
import Logging
import NIOCore
import PushSupport
import PushTypes
import PushWire

/// The device link of one environment: what the courier handlers share, and the work that is more than translating
/// packets.
final class DeviceLinkListener: Sendable {
    /// Bytes written and not read by a device: messages wait in its ``DeviceLinkMailbox`` while there are more. A device that
    /// asks on without reading the answers is disconnected when these are as many.
    static let outboundLimit = 512 * 1024

    /// A device that is connected and proven.
    struct Session: Sendable {
        var device: UUID
        var id: DeviceSession.ID
        var baseToken: [UInt8]
        /// Whether the device has to be told its base token.
        var isNewToken: Bool
        var link: DeviceLinkMailbox
    }

    let sweeps = IdleConnectionSweeper()
    let environment: PushEnvironment
    let devices: DeviceRegistry
    let router: MessageRouter
    let authenticator: DeviceAuthenticator
    let limits: DeviceLinkServerStateMachine.Limits
    /// From TCP accept to the end of the TLS handshake.
    let handshake: Duration
    let time: any TimeSource
    let logger: Logger
    private let topic: @Sendable (TopicHash) -> Topic?
    private let tokenLength: @Sendable (Topic) -> Int
    private let hasChannel: @Sendable (ChannelName) -> Bool

    /// - Parameters:
    ///   - topic: the registered topic of this hash.
    ///   - tokenLength: of the device tokens of a topic, see ``DeviceRegistry``.
    ///   - hasChannel: whether there is such a broadcast channel.
    init(
        router: MessageRouter,
        devices: DeviceRegistry,
        authenticator: DeviceAuthenticator,
        limits: DeviceLinkServerStateMachine.Limits,
        handshake: Duration,
        time: any TimeSource,
        logger: Logger,
        topic: @escaping @Sendable (TopicHash) -> Topic?,
        tokenLength: @escaping @Sendable (Topic) -> Int,
        hasChannel: @escaping @Sendable (ChannelName) -> Bool
    ) {
        self.environment = router.environment
        self.router = router
        self.devices = devices
        self.authenticator = authenticator
        self.limits = limits
        self.handshake = handshake
        self.time = time
        self.logger = logger
        self.topic = topic
        self.tokenLength = tokenLength
        self.hasChannel = hasChannel
    }

    func initialize(_ channel: any Channel, _ fault: FaultDecision?) throws {
        try channel.syncOptions?.setOption(
            .writeBufferWaterMark,
            value: .init(low: Self.outboundLimit / 2, high: Self.outboundLimit)
        )
        try channel.pipeline.syncOperations.addHandler(DeviceLinkServerHandler(door: self))
    }

    /// Checks the proof; `nil` if the device is refused. Takes a while: not for an event loop.
    func authenticate(_ connect: DeviceLinkConnect, tlsCertificate: [UInt8]?) -> UUID? {
        do {
            return try self.authenticator.device(connect, tlsCertificate: tlsCertificate, now: self.time.now)
        } catch {
            self.logger.info("device refused", metadata: ["reason": "\(error.rawValue)"])
            return nil
        }
    }

    /// Opens a session for a device that has proved who it is; `nil` if it was deleted meanwhile.
    func open(_ device: UUID, _ connect: DeviceLinkConnect, channel: any Channel) -> Session? {
        guard let known = self.devices.device(device),
            let baseToken = try? self.devices.mint.baseToken(for: device, epoch: known.epoch)
        else { return nil }
        let writer = DevicePacketWriter(
            baseToken: baseToken,
            understandsExtensions: connect.understandsExtensions
        )
        let link = DeviceLinkMailbox(channel: channel, door: self, device: .init(id: device, writer: writer))
        guard let id = self.router.connected(device, isActive: connect.state == .active, link: link) else { return nil }
        return Session(
            device: device,
            id: id,
            baseToken: baseToken,
            isNewToken: connect.baseToken != baseToken,
            link: link
        )
    }

    /// The token of an app that is on the device now.
    func token(_ topic: TopicHash, of device: UUID) -> DeviceToken? {
        try? self.devices.currentToken(topic, on: device, in: self.environment)
    }

    /// Whether a fault ends the connection with this message.
    func endsConnection(after message: Message, ordinal: Int) -> Bool {
        var random = SystemRandomNumberGenerator()
        let decision = self.router.faults.decide(
            at: .delivery,
            for: FaultSubject(door: .courier, environment: self.environment, message: message, ordinal: ordinal),
            random: &random,
            now: self.time.now
        )
        return decision?.connection == .close
    }

    func mint(
        _ request: DeviceLinkTokenRequest,
        for device: UUID,
        answer: @escaping @Sendable (DeviceLinkTokenResponse) -> Void
    ) {
        let refusal = DeviceLinkTokenResponse(status: 2, token: [], topic: request.topic)
        guard let topic = self.topic(request.topic) else { return answer(refusal) }
        let (length, now) = (self.tokenLength(topic), self.time.now)
        self.devices.token(topic, on: device, in: self.environment, length: length, now: now) { result in
            switch result {
            case .success(let token?):
                answer(DeviceLinkTokenResponse(status: 0, token: token.bytes, topic: request.topic))
            case .success(nil):
                answer(refusal)
            case .failure(let error):
                self.logger.error("device token could not be minted", metadata: ["error": "\(error)"])
                answer(refusal)
            }
        }
    }

    func channel(_ request: DeviceLinkChannelRequest, for session: Session) -> DeviceLinkChannelResponse {
        var response = DeviceLinkChannelResponse(
            status: .unknownChannel,
            topic: request.topic,
            channel: request.channel
        )
        guard let bundleID = self.topic(request.topic) else { return response }
        let channel = ChannelName(bundleID: bundleID, id: request.channel)
        if !request.follows {
            self.router.unfollow(channel, session.device, session: session.id)
            response.status = .ok
        } else if self.hasChannel(channel) {
            response.status = self.router.follow(channel, session.device, session: session.id) ? .ok : .tooMany
        }
        return response
    }
}
