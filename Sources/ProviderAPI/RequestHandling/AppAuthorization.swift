import Foundation
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// The app that a request acts on, as its operation and path name it.
enum AppSubject: Hashable, Sendable {
    /// The path has a bundle id.
    case app
    /// The path has the id of a record of one app.
    case record(Kind)
    /// The handler leaves out other apps than the caller's.
    case filtered
    /// The request is about no app, or about all.
    case server

    /// The records that have ids of their own, by the names of their path parameters.
    enum Kind: String, CaseIterable, Sendable {
        case notification, schedule, webhook, publication, issue, upload
        case delivery = "apnsId"
    }
}

extension ProviderOperation {
    /// The app that requests act on. A parameter that is not known here leads to ``AppSubject/server``, which keys of
    /// single apps cannot reach.
    var subject: AppSubject {
        if self.pathParameters.contains("app") { return .app }
        if let kind = self.pathParameters.lazy.compactMap(AppSubject.Kind.init(rawValue:)).first {
            return .record(kind)
        }
        return self.isFilteredByApp ? .filtered : .server
    }
}

/// Checks that a caller that is limited to apps acts on these only.
///
/// It is the one place for that, before any handler runs. The response does not reveal whether another app, or a record
/// of another app, exists.
struct AppAuthorization: Sendable {
    let store: any AppStore

    /// - Throws: ``RequestError`` for a caller that may not act on the app of the request.
    func check(_ caller: APICaller, _ operation: ProviderOperation, _ context: APIContext) async throws {
        guard caller.apps != nil else { return }
        switch operation.subject {
        case .filtered: return
        case .app:
            guard let app = context.bundleID, caller.mayUse(app) else {
                let message = "\(caller.text) is for other apps"
                throw RequestError(.forbidden, code: "other_app", message: message, path: "authorization")
            }
        case .record(let kind):
            guard let record = Self.record(kind, context.path(kind.rawValue)),
                let app = try await self.store.owner(of: record), caller.mayUse(app)
            else { throw Self.missing(kind) }
        case .server:
            let message = "this is for callers with all apps, and \(caller.text) is for single apps"
            throw RequestError(.forbidden, code: "all_apps_needed", message: message, path: "authorization")
        }
    }

    private static func record(_ kind: AppSubject.Kind, _ text: String) -> AppOwnedRecord? {
        switch kind {
        case .notification: UUID(uuidString: text).map(AppOwnedRecord.notification)
        case .schedule: UUID(uuidString: text).map(AppOwnedRecord.schedule)
        case .webhook: UUID(uuidString: text).map(AppOwnedRecord.webhook)
        case .publication: UUID(uuidString: text).map(AppOwnedRecord.publication)
        case .issue: UUID(uuidString: text).map(AppOwnedRecord.issue)
        case .upload: UUID(uuidString: text).map(AppOwnedRecord.upload)
        case .delivery: DeliveryID.parse(text).map { .delivery($0.notification) }
        }
    }

    /// Returns the error that the handler throws where there is no such record.
    private static func missing(_ kind: AppSubject.Kind) -> RequestError {
        switch kind {
        case .notification, .schedule, .webhook, .publication, .issue, .upload: .noSuch(kind.rawValue)
        case .delivery: .noSuch("delivery", by: "apns-id", at: "apnsId")
        }
    }
}

extension APICaller {
    /// The caller in the words of an error: `this API key`, `this person`.
    var text: String { self.isPerson ? "this person" : "this API key" }
}
