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

/// The operations that send and preview an app's notifications, and that resend failed ones.
struct SendingController: Controller {
    typealias Store = AppStore & DeviceStore & LibraryStore & NotificationStore & UserStore & WebPushStore

    let store: any Store
    let acceptor: NotificationAcceptor
    let outcomes: OutcomeSignals
    let faults: ConfigurationFaultTracker
    let time: any TimeSource

    /// The description of the response to a notification that was accepted and is on disk.
    static let accepted = ResponseDescription(
        status: 202,
        "Accepted.",
        NotificationResponse.schema,
        headers: [
            "location": "The path of the notification.",
            "idempotency-replayed": "true if it was accepted before.",
        ]
    )

    var operations: [ProviderOperation] {
        let key = IdempotencyKey.parameter
        return [
            .init(.post, "/v1/apps/{app}/notifications", .unaudited, id: "send", self.send)
                .summary("Accepts a notification: it is on disk before the response.")
                .tag(.notifications).scope(.send).parameters(key, WaitParameter.parameter)
                .body(NotificationRequest.object.schema)
                .responses(Self.accepted).errors(.conflict),
            .init(.post, "/v1/notifications/{notification}:resend", .unaudited, id: "resendNotification", self.resend)
                .summary("Sends a notification that has ended again, to exactly the recipients that failed.")
                .tag(.notifications).scope(.send).cost(.query).parameters(key)
                .body(ResendRequest.object.schema, isRequired: false).responses(Self.accepted).errors(.conflict),
            .init(.post, "/v1/apps/{app}/notifications:preview", .readOnly, id: "previewNotification", self.preview)
                .summary("Renders a notification for a device and counts the recipients; sends nothing.")
                .tag(.notifications).scope(.read).cost(.query)
                .parameters(
                    .query(
                        "count",
                        "false: recipients are not counted, which takes long for a million.",
                        .choice(["true", "false"])
                    )
                )
                .body(PreviewRequest.notification.schema)
                .responses(.ok(PreviewResponse.schema, "The push that would be sent.")),
        ]
    }

    /// Accepts a notification, and writes it to disk before the response with status 202.
    private func send(_ request: OperationRequest) async throws -> Response {
        let (receivedAt, begin) = (self.time.now, ContinuousClock.now)
        let app = try await request.app(self.store)
        let key = try IdempotencyKey.of(request.http)
        let waiting = try WaitParameter(request)
        let body = try JSONValue(parsing: try await request.body())
        // The JSON is in canonical form, so that the order of members does not change the fingerprint.
        let idempotency = try key.map {
            Idempotency(key: $0, fingerprint: Array(SHA256.hash(data: try body.text)))
        }
        // A repeated request is answered before all checks that depend on the time, because it must not fail after it
        // was accepted once.
        if let idempotency, let earlier = try await self.earlier(idempotency, app) {
            return try await self.repeated(earlier, app, body, waiting, request)
        }
        let fields = try JSONFields(body, known: NotificationRequest.object.known)
        let wanted = try await NotificationRequest.read(fields, of: app, now: self.time.now, in: self.store)
        try waiting?.check(wanted)
        try await self.checkCredentials(app, wanted)
        let (notification, acceptance) = try await self.acceptor.accept(
            wanted,
            app: app.id,
            key: request.caller?.reference,
            idempotency: idempotency,
            acceptance: AcceptanceRecord(receivedAt: receivedAt, checkedIn: begin.duration(to: .now).microseconds)
        ) { recipients in
            guard waiting != nil, recipients ?? .max > WaitParameter.maximumRecipients else { return }
            throw WaitParameter.tooMany(recipients)
        }
        switch acceptance {
        case .accepted:
            var warnings = wanted.warnings + (try await self.warnings(about: notification, wanted))
            warnings += try await self.pauseWarnings(app, wanted)
            return try await self.accepted(notification, app, warnings: warnings, waiting, request)
        case .repeated(let earlier): return try await self.repeated(earlier, app, body, waiting, request)
        case .conflict, .scheduleChanged, .originalForgotten, .tokenOfOtherKind, .inactiveToken, .issueWithdrawn,
            .sessionRemoved:
            throw IdempotencyKey.conflict
        }
    }

    /// Returns a warning if the accepted notification has no recipients at present, and otherwise an empty array.
    private func warnings(
        about notification: NotificationRecord,
        _ wanted: NotificationRequest
    ) async throws -> [ContentWarning] {
        switch notification.state {
        case .done: return ContentWarning.nobodyReached(by: notification)
        case .scheduled:
            if let missing = try await ContentWarning.missingTokens(for: wanted, app: notification.app, in: self.store)
            {
                return [missing]
            }
            guard try await self.acceptor.reachesNobody(notification) == true else { return [] }
            let message = "no active device matches now: only devices that register before it is sent get it"
            return [ContentWarning(field: "to", message: message)]
        default: return []
        }
    }

    /// Returns the notification of an earlier request with the same idempotency key, or `nil` for a new request.
    /// - Throws: A ``RequestError`` with status 409 if the earlier request had a different body.
    private func earlier(_ idempotency: Idempotency, _ app: AppRecord) async throws -> NotificationRecord? {
        switch try await self.store.accepted(idempotency, app: app.id) {
        case .repeated(let earlier): earlier
        case .conflict: throw IdempotencyKey.conflict
        case .accepted, .scheduleChanged, .originalForgotten, .tokenOfOtherKind, .inactiveToken, .issueWithdrawn,
            .sessionRemoved, nil:
            nil
        }
    }

    /// Returns the response to a repeated request, with the first response's warnings. For a `waiting` of `nil`, it
    /// does not wait for outcomes.
    private func repeated(
        _ earlier: NotificationRecord,
        _ app: AppRecord,
        _ body: JSONValue,
        _ waiting: WaitParameter?,
        _ request: OperationRequest
    ) async throws -> Response {
        let wanted = await self.request(body, app, now: earlier.createdAt)
        // The first request may not have waited, and may have had more recipients than a waiting request may have.
        let isSmall = earlier.progress.recipients <= WaitParameter.maximumRecipients && earlier.delivery == nil
        let warnings = (wanted?.warnings ?? []) + ContentWarning.nobodyReached(by: earlier)
        var response = try await self.accepted(earlier, app, warnings: warnings, isSmall ? waiting : nil, request)
        if let name = HTTPField.Name("idempotency-replayed") { response.headers[name] = "true" }
        return response
    }

    /// Parses the body of a repeated request again, because of its warnings. Returns `nil` if it would be rejected now.
    private func request(_ body: JSONValue, _ app: AppRecord, now: Timestamp) async -> NotificationRequest? {
        guard let fields = try? JSONFields(body, known: NotificationRequest.object.known) else { return nil }
        return try? await NotificationRequest.read(fields, of: app, now: now, in: self.store)
    }

    /// Returns the warnings about the app's stop, and about the notification's paused or failing environments.
    private func pauseWarnings(_ app: AppRecord, _ wanted: NotificationRequest) async throws -> [ContentWarning] {
        var needed = wanted.environment
        if needed == nil, case .tokens = wanted.audience { needed = .production }
        let environments = needed.map { [$0] } ?? PushEnvironment.allCases
        let stop = try await self.store.stop(of: app.id).map { AppStopResponse.warning($0, app: app.bundleID) }
        // Web Push is independent of environments.
        guard !wanted.content.isWeb else { return [stop].compactMap(\.self) }
        return [stop].compactMap(\.self)
            + (try await EnvironmentResponse.faulty(app, environments, self.faults).compactMap(\.warning))
    }

    /// Returns the response to an accepted notification. The field `location` contains the notification's path. If
    /// `waiting` is not `nil`, the response contains the outcomes, and is delayed until they are known or the time has
    /// elapsed.
    private func accepted(
        _ new: NotificationRecord,
        _ app: AppRecord,
        warnings: [ContentWarning],
        _ waiting: WaitParameter?,
        _ request: OperationRequest
    ) async throws -> Response {
        var notification = new
        var list: OutcomeList?
        if let waiting {
            notification = try await waiting.end(of: new, self.outcomes, self.store, on: request.context.channel)
            // There may be a few more recipients than were counted when the notification was accepted.
            let most = WaitParameter.maximumRecipients * 2
            let found = try await self.store.outcomes(of: new.id, limit: most) ?? NotificationOutcomes(notification)
            (notification, list) = (found.notification, OutcomeList(found))
        } else if new.delivery != nil {
            // The stored notification contains its shards, which determine when it is sent.
            notification = try await self.store.notification(new.id) ?? new
        }
        var response = NotificationResponse(notification: notification, app: app.bundleID, clocks: self.time.reading)
        response.firstStart = try await NotificationForecast.firstStart(of: notification, in: self.store)
        response.warnings = warnings
        response.scopes = request.caller?.scopes
        (response.outcomes, response.pending) = (list?.outcomes, list?.pending)
        let headers: HTTPFields = [.location: "/v1/notifications/\(new.id.uuidString)"]
        return try .json(response, status: .accepted, headers: headers)
    }

    /// Sends a notification again, as a new one. A repetition of the request creates no second notification, even
    /// without an idempotency key.
    private func resend(_ request: OperationRequest) async throws -> Response {
        let key = try IdempotencyKey.of(request.http)
        let original = try await request.object("notification") { try await self.store.notification($0) }
        guard let app = try await self.store.app(id: original.app) else { throw RequestError.noSuch("notification") }
        let data = try await request.body()
        let body = data.isEmpty ? .object([:]) : try JSONValue(parsing: data)
        let resend = try ResendRequest(JSONFields(body, known: ResendRequest.object.known), of: original.id)
        let identity: JSONValue = .object(["resend": .string(original.id.uuidString), "body": body])
        let fingerprint = Array(SHA256.hash(data: try identity.text))
        // Idempotency keys of API callers contain no space, so none equals this one.
        let standard = "resend \(original.id.uuidString) \(Hexadecimal.encode(fingerprint))"
        let idempotency = Idempotency(key: key ?? standard, fingerprint: fingerprint)
        if let earlier = try await self.earlier(idempotency, app) {
            return try await self.repeated(earlier, app, .null, nil, request)
        }
        guard !original.isForgotten else { throw ResendRequest.forgotten }
        var deliveries: [DeliveryRecord] = []
        if let count = original.audience.namedCount {
            deliveries = try await self.store.deliveries(
                of: original.id,
                state: nil,
                reason: nil,
                after: nil,
                limit: count + original.erasedPositions.count
            )
        }
        let wanted = try resend.request(original, deliveries, now: self.time.now)
        try await self.checkCredentials(app, wanted)
        let (notification, acceptance) = try await self.acceptor.accept(
            wanted,
            app: app.id,
            key: request.caller?.reference,
            idempotency: idempotency
        ) { if $0 == 0 { throw ResendRequest.nobody } }
        switch acceptance {
        case .accepted: return try await self.accepted(notification, app, warnings: [], nil, request)
        case .repeated(let earlier): return try await self.repeated(earlier, app, .null, nil, request)
        case .originalForgotten: throw ResendRequest.forgotten
        case .conflict, .scheduleChanged, .tokenOfOtherKind, .inactiveToken, .issueWithdrawn, .sessionRemoved:
            throw IdempotencyKey.conflict
        }
    }

    /// Checks that the app has a credential with which the notification can be sent.
    /// - Throws: ``RequestError`` for a missing credential or, for Web Push, a missing VAPID key.
    private func checkCredentials(_ app: AppRecord, _ wanted: NotificationRequest) async throws {
        guard !wanted.content.isWeb else {
            guard try await !self.store.vapidKeys(app: app.id).isEmpty else { throw RequestError.noVAPIDKey }
            return
        }
        let environments = try await self.store.environments(app: app.id)
        var needed = wanted.environment
        if needed == nil, case .tokens = wanted.audience { needed = .production }
        guard needed.map(environments.contains) ?? !environments.isEmpty else {
            throw RequestError.missingCredential(
                needed?.rawValue ?? "any environment",
                hint: ": PUT /v1/apps/\(app.bundleID)/credentials/… first",
                at: "environment"
            )
        }
    }
}

extension SendingController {
    /// Renders the notification without sending it. Recipients are counted, unless the query contains `count=false`.
    private func preview(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let fields = try await request.fields(PreviewRequest.notification)
        var wanted = try await NotificationRequest.read(fields, of: app, now: self.time.now, in: self.store)
        let subject = try await PreviewSubjectResolver(store: self.store).subject(fields, app, wanted.content)
        guard try Self.counts(request) else {
            return try .json(PreviewResponse(wanted, bundleID: app.bundleID, for: subject))
        }
        let recipients = try await self.recipients(wanted, app)
        if recipients == 0,
            let missing = try await ContentWarning.missingTokens(for: wanted, app: app.id, in: self.store)
        {
            wanted.warnings.append(missing)
        }
        let response = PreviewResponse(
            wanted,
            bundleID: app.bundleID,
            for: subject,
            recipients: recipients,
            // Counting the skipped recipients takes as long as counting all recipients.
            forecast: recipients == nil ? nil : try await self.consentForecast(wanted, app)
        )
        return try .json(response)
    }

    private static func counts(_ request: OperationRequest) throws -> Bool {
        try request.value(
            "count",
            { ["true": true, "false": false][$0] },
            orThrow: .invalid("count", "use true or false")
        ) ?? true
    }

    /// Returns the current number of recipients, or `nil` if counting them takes too long.
    private func recipients(_ wanted: NotificationRequest, _ app: AppRecord) async throws -> Int? {
        switch wanted.audience {
        case .tokens, .channel: return wanted.audience.namedCount
        case .devices(let audience):
            do {
                return try await self.store.count(
                    app: app.id,
                    audience: audience,
                    environment: wanted.environment,
                    kind: wanted.content.tokenKind
                )
            } catch StoreError.queryTooExpensive {
                return nil
            } catch is BudgetRefusal {
                return nil
            }
        }
    }

    /// Returns the numbers of recipients that would be skipped, by the current preferences of devices and users, or
    /// `nil` if counting them takes too long.
    private func consentForecast(_ wanted: NotificationRequest, _ app: AppRecord) async throws -> ConsentForecast? {
        let groups: [ConsentGroup]?
        do {
            groups = try await self.store.consentGroups(
                app: app,
                audience: wanted.audience,
                environment: wanted.environment,
                content: wanted.content,
                rules: wanted.consent,
                now: self.time.steady
            )
        } catch StoreError.queryTooExpensive {
            return nil
        } catch is BudgetRefusal {
            return nil
        }
        guard let groups else { return nil }
        let now = self.time.now
        return ConsentForecast(groups) { zone in
            wanted.delivery.map { $0.start(for: zone, acceptedAt: now) } ?? now
        }
    }
}
