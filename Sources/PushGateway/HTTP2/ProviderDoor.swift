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

    let session: ProviderSession.Shared
    let channels: ChannelManager
    let router: Router
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
        let connection = ConnectionState(self.session)
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
        let session: Mutex<ProviderSession>

        init(_ shared: ProviderSession.Shared) {
            self.session = Mutex(ProviderSession(shared))
        }
    }

    private func answer(_ request: ProviderRequest, on state: ConnectionState) async -> ProviderAnswer {
        let now = self.time.now
        switch state.session.withLock({ $0.receive(request, now: now) }).decision {
        case .submit(let push, let answer): return await self.submit(push, answer)
        case .manage(let command): return await self.channels.perform(command)
        case .answer(let answer): return answer
        case .refuse(let refusal, let answer):
            await self.note(refusal, answer)
            return answer
        case .broadcast(let broadcast, _):
            // No device can follow a channel yet.
            return .refused(.serviceUnavailable, requestID: broadcast.requestID)
        }
    }

    private func submit(_ push: AcceptedPush, _ answer: ProviderAnswer) async -> ProviderAnswer {
        do {
            try await self.router.submit(push)
            return answer
        } catch {
            self.logger.error(
                "push could not be stored",
                metadata: ["apns-id": "\(push.notification.id)", "error": "\(error)"]
            )
            return ProviderSession.failure(of: answer)
        }
    }

    private func note(_ refusal: ProviderRefusal, _ answer: ProviderAnswer) async {
        let id = answer.apnsID ?? answer.requestID ?? ""
        self.logger.info("request refused", metadata: ["id": "\(id)", "reason": "\(refusal.reason.text)"])
        guard let token = refusal.token else { return }
        do {
            try await self.router.refusedUnregistered(device: token.device, topic: token.topic, apnsID: id)
        } catch {
            self.logger.error("event could not be stored", metadata: ["apns-id": "\(id)", "error": "\(error)"])
        }
    }
}
