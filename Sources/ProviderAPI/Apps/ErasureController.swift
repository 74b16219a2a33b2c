import Foundation
import Hummingbird
import ProviderModel
import PushHTTP
import PushProvider
import PushStore
import PushSupport

/// The operations `DELETE /v1/apps/{app}` and `DELETE /v1/apps/{app}/users/{user}`, which erase an app or a user.
struct ErasureController: Controller {
    let store: any AppStore & ErasureStore & WebhookStore
    let faults: ConfigurationFaultTracker
    /// The queue of pushes in memory. An erasure removes the pushes of the user or the app from it.
    let direct: DirectDispatch
    let wake: WakeSignal
    /// The maximum time for which a request waits for the erasure. After that, the response has status 202, and a
    /// background service completes the erasure.
    let patience: Duration
    /// The closure that aborts the request in flight to the webhook with the given id.
    let interrupt: @Sendable (UUID) async -> Void
    /// The closure that notifies the provider's extension, if there is one, of an erasure, as
    /// ``ProviderExtension/erasureBegan()`` describes.
    let noteErasure: @Sendable () -> Void
    let time: any TimeSource

    /// The state of an erasure: `erasing` while rows remain or pushes are in flight, and `erased` afterwards.
    private enum State: String, CaseIterable, Sendable, JSONRepresentable {
        case erased, erasing
    }

    /// The response to a request for an erasure, with the number of pushes in flight whose outcome is not known yet.
    private struct Answer: ResponseObject {
        let state: State
        let underWay: Int

        static let schemaName: String? = "Erasure"
        static let members: [ResponseMember<Self>] = [
            .required("state", \.state),
            .required("underWay", \.underWay, "The pushes that could not be taken back and have no outcome yet."),
        ]
    }

    var operations: [ProviderOperation] {
        let schema = Answer.schema
        let going = ResponseDescription(status: 202, "It goes on; the same request reports its state.", schema)
        let done = ResponseDescription.ok(schema, "Nothing is left. The file is overwritten within an hour.")
        return [
            .init(.delete, "/v1/apps/{app}", .audited, id: "deleteApp", self.eraseApp)
                .summary("Erases an app with everything that is kept of it; its notifications end at once.")
                .tag(.apps).scope(.admin).responses(done, going),
            .init(.delete, "/v1/apps/{app}/users/{user}", .audited, id: "deleteUser", self.eraseUser)
                .summary(
                    "Erases a user: devices, history, badges, and notifications to the user alone. Waits for pushes under way."
                )
                .tag(.devices).scope(.admin).responses(done, going),
        ]
    }

    private func eraseApp(_ request: OperationRequest) async throws -> Response {
        if let bundleID = request.context.bundleID, let known = try await self.store.erasure(ofApp: bundleID) {
            return try await self.response(known)
        }
        let app = try await request.app(self.store)
        let webhooks = try await self.store.webhooks(app: app.id)
        guard
            let erasure = try await self.store.eraseApp(app.id, now: self.time.recorded, steady: self.time.steady)
        else { throw RequestError.noSuch("app", by: "bundle id") }
        self.noteErasure()
        // Pushes are removed from the queue immediately, because the erasure of the rows may take longer.
        _ = self.direct.apply(.app(app.id))
        self.faults.forget(app: app.id)
        for webhook in webhooks { await self.interrupt(webhook.id) }
        return try await self.response(erasure)
    }

    private func eraseUser(_ request: OperationRequest) async throws -> Response {
        let (app, user) = (try await request.app(self.store), try request.user())
        let erasure = try await self.store.eraseUser(user, app: app.id, steady: self.time.steady)
        self.noteErasure()
        return try await self.response(erasure)
    }

    /// Erases rows for as long as the request may wait, and responds. The background service erases the rest.
    private func response(_ erasure: ErasureRecord) async throws -> Response {
        defer { self.wake.signal() }
        let end = ContinuousClock.now + self.patience
        var isErased = try await self.erase(erasure, until: end)
        // From here on, no erased record can be read into memory again.
        let underWay = try await self.direct.takeBack(erasure, in: self.store)
        let isSettled = await underWay.settle(within: max(.zero, end - .now))
        // The outcomes of the pushes in flight have been written, and are erased too.
        if isErased, isSettled, underWay.count > 0 { isErased = try await self.erase(erasure, until: end) }
        let count = isSettled ? 0 : underWay.count
        guard isErased, isSettled else {
            return try .json(Answer(state: .erasing, underWay: count), status: .accepted)
        }
        // If this request is repeated, records that were added in the meantime are erased.
        try await self.store.noteAnswered(erasure)
        return try .json(Answer(state: .erased, underWay: count))
    }

    /// Erases rows until none remain, or until the time `end`.
    /// - Returns: `true` if none remain, and `false` if the time has elapsed.
    private func erase(_ erasure: ErasureRecord, until end: ContinuousClock.Instant) async throws -> Bool {
        while try await self.store.continueErasure(erasure, now: self.time.recorded) {
            guard ContinuousClock.now < end else { return false }
        }
        return true
    }
}
