import Foundation
import Hummingbird
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

extension SendingController {
    /// Renders the notification without sending it. Its recipients are counted as they are now, unless nobody asks for that.
    func preview(_ request: OperationRequest) async throws -> Response {
        let app = try await request.app(self.store)
        let fields = try await request.fields(Self.previewRequest)
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
            // Those that are skipped are found in the same way.
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

    /// Returns the present number of recipients; `nil` if counting them takes too long.
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

    /// Returns the numbers of recipients that would be skipped when the notification is sent, as devices and users are now;
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
