import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import ProviderModel
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// The operation `POST /v1/apps/{app}/broadcasts`, which sends a push to a broadcast channel. It updates all Live
/// Activities that follow the channel.
struct BroadcastsController: Controller {
    let store: any AppStore & NotificationStore
    let channels: ChannelDirectory
    let acceptor: NotificationAcceptor
    let faults: ConfigurationFaultTracker
    let time: any TimeSource

    var operations: [ProviderOperation] {
        [
            .init(.post, "/v1/apps/{app}/broadcasts", .unaudited, id: "broadcast", self.broadcast)
                .summary("Accepts a broadcast as a notification with one recipient: it is on disk before the response.")
                .tag(.channels).scope(.send).parameters(IdempotencyKey.parameter)
                .body(BroadcastRequest.object.schema).responses(SendingController.accepted).errors(.conflict)
        ]
    }

    private func broadcast(_ request: OperationRequest) async throws -> Response {
        let (receivedAt, begin) = (self.time.now, ContinuousClock.now)
        let app = try await request.app(self.store)
        let key = try IdempotencyKey.of(request.http)
        let body = try JSONValue(parsing: try await request.body())
        let idempotency = try key.map { key in
            // The member `broadcast` makes the fingerprint differ from that of any notification.
            let identity = JSONValue.object(["broadcast": body])
            return Idempotency(key: key, fingerprint: Array(SHA256.hash(data: try identity.text)))
        }
        // A repeated request is answered before all checks that depend on the time or the push service.
        if let idempotency, let earlier = try await self.store.accepted(idempotency, app: app.id) {
            guard case .repeated(let notification) = earlier else { throw IdempotencyKey.conflict }
            return try self.accepted(notification, app, isRepeated: true, request)
        }
        let wanted = try BroadcastRequest(JSONFields(body, known: BroadcastRequest.object.known))
        let channel = try await self.channels.channel(wanted.channel, of: app, wanted.environment)
        let notification = try wanted.notification(to: channel, of: app.bundleID, now: self.time.now)
        guard try await self.store.environments(app: app.id).contains(channel.environment) else {
            throw RequestError.missingCredential(channel.environment.rawValue, at: "environment")
        }
        let (record, acceptance) = try await self.acceptor.accept(
            notification,
            app: app.id,
            key: request.caller?.reference,
            idempotency: idempotency,
            acceptance: AcceptanceRecord(receivedAt: receivedAt, checkedIn: begin.duration(to: .now).microseconds)
        )
        switch acceptance {
        case .accepted:
            let stop = try await self.store.stop(of: app.id).map { AppStopResponse.warning($0, app: app.bundleID) }
            let faulty = try await EnvironmentResponse.faulty(app, [channel.environment], self.faults)
            let warnings = notification.warnings + [stop].compactMap(\.self) + faulty.compactMap(\.warning)
            return try self.accepted(record, app, warnings: warnings, request)
        case .repeated(let earlier): return try self.accepted(earlier, app, isRepeated: true, request)
        case .conflict, .scheduleChanged, .originalForgotten, .tokenOfOtherKind, .inactiveToken, .issueWithdrawn,
            .sessionRemoved:
            throw IdempotencyKey.conflict
        }
    }

    /// Returns the response to an accepted broadcast. The field `location` contains the path of the broadcast. If
    /// `isRepeated` is `true`, an earlier request with the same idempotency key created it.
    private func accepted(
        _ notification: NotificationRecord,
        _ app: AppRecord,
        isRepeated: Bool = false,
        warnings: [ContentWarning] = [],
        _ request: OperationRequest
    ) throws -> Response {
        var response = NotificationResponse(notification: notification, app: app.bundleID, clocks: self.time.reading)
        (response.warnings, response.audience) = (warnings, notification.audience)
        response.scopes = request.caller?.scopes
        var headers: HTTPFields = [.location: "/v1/notifications/\(notification.id.uuidString)"]
        if isRepeated, let name = HTTPField.Name("idempotency-replayed") { headers[name] = "true" }
        return try .json(response, status: .accepted, headers: headers)
    }
}
