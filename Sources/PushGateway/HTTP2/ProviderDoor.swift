import Foundation
import Logging
import NIOCore
import NIOHTTP2
import NIOSSL
import PushProtocol
import Synchronization

/// The provider API: answers push requests over HTTP/2.
struct ProviderDoor: Sendable {
    /// SETTINGS as seen from Apple (reference 1.3), with the lenient stream limit of reference 7.10 row 6.
    static let settings: [HTTP2Setting] = [
        HTTP2Setting(parameter: .headerTableSize, value: 4096),
        HTTP2Setting(parameter: .maxConcurrentStreams, value: 1000),
        HTTP2Setting(parameter: .initialWindowSize, value: 65_535),
        HTTP2Setting(parameter: .maxFrameSize, value: 16_384),
        HTTP2Setting(parameter: .maxHeaderListSize, value: 8000),
    ]

    /// How long answers may take once the gateway is going away.
    static let longestDrain: TimeAmount = .seconds(5)

    let directory: EnvironmentDirectory
    let router: Router
    let environment: PushEnvironment
    let requestDeadline: TimeAmount
    let time: any TimeSource
    let logger: Logger

    /// Sets up a connection after TLS.
    func initialize(_ channel: any Channel) throws {
        try channel.pipeline.syncOperations.addHandler(
            ProtocolDetector(deadline: self.requestDeadline, configureHTTP2: self.configureHTTP2)
        )
    }

    private func configureHTTP2(_ channel: any Channel) throws {
        let connection = ConnectionState()
        var configuration = NIOHTTP2Handler.ConnectionConfiguration()
        configuration.initialSettings = Self.settings
        let manager = NIOHTTP2ServerConnectionManagementHandler(
            eventLoop: channel.eventLoop,
            configuration: .init(
                maxIdleTime: nil,
                maxAge: nil,
                maxGraceTime: Self.longestDrain,
                keepalive: .init(pingInterval: .minutes(30), ackTimeout: .seconds(20))
            )
        )
        let pipeline = channel.pipeline.syncOperations
        _ = try pipeline.configureHTTP2Pipeline(
            mode: .server,
            connectionConfiguration: configuration,
            streamConfiguration: .init(),
            streamDelegate: manager.http2StreamDelegate
        ) { stream in
            stream.eventLoop.makeCompletedFuture {
                try stream.pipeline.syncOperations.addHandler(
                    ProviderStreamHandler(deadline: self.requestDeadline) { request in
                        await self.answer(request, on: connection)
                    }
                )
            }
        }
        try pipeline.addHandler(manager)
        try pipeline.addHandler(ConnectionErrorHandler())
    }

    /// What the requests of one connection share.
    final class ConnectionState: Sendable {
        let connection = Mutex(ProviderConnection())
    }

    private func answer(_ request: ProviderRequest, on state: ConnectionState) async -> ProviderAnswer {
        let apnsID = PushRequestValidator.apnsID(of: request) ?? UUID().uuidString
        let validator = PushRequestValidator(directory: self.directory, now: self.time.now)
        do {
            let push = try state.connection.withLock { connection in
                try validator.validate(request, connection: &connection, apnsID: apnsID)
            }
            guard await self.submit(push) else { return .refused(.internalServerError, apnsID: apnsID) }
            let uniqueID = self.environment == .sandbox ? UUID().uuidString : nil
            return .accepted(apnsID: apnsID, uniqueID: uniqueID)
        } catch let refusal as PushRequestValidator.Refusal {
            self.note(refusal, apnsID: apnsID)
            return .refused(refusal.reason, apnsID: apnsID, timestamp: refusal.timestamp)
        } catch {
            self.logger.error("push could not be stored", metadata: ["apns-id": "\(apnsID)", "error": "\(error)"])
            return .refused(.internalServerError, apnsID: apnsID)
        }
    }

    private func submit(_ push: AcceptedPush) async -> Bool {
        await withCheckedContinuation { continuation in
            let owner = SingleSubmission { continuation.resume(returning: $0) }
            self.router.submit([Submission(push: push, owner: owner, ticket: 0)])
        }
    }

    private func note(_ refusal: PushRequestValidator.Refusal, apnsID: String) {
        self.logger.info("push refused", metadata: ["apns-id": "\(apnsID)", "reason": "\(refusal.reason.text)"])
        guard let gone = refusal.token, let since = refusal.timestamp else { return }
        self.router.refusedUnregistered(
            gone.token,
            device: gone.device,
            topic: gone.topic,
            apnsID: apnsID,
            since: since
        )
    }
}

/// Waits for one push.
final class SingleSubmission: SubmissionOwner {
    private let completion: @Sendable (Bool) -> Void

    init(completion: @escaping @Sendable (Bool) -> Void) {
        self.completion = completion
    }

    func settled(_ settlements: [Settlement]) {
        for settlement in settlements { self.completion(settlement.isAccepted) }
    }
}
