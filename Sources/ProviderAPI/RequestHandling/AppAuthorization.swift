import Foundation
import ProviderModel
import PushHTTP
import PushProvider
import PushStore
import PushSupport

/// The app on which a request acts, which its operation and path determine.
enum AppSubject: Hashable, Sendable {
    /// The app whose bundle id is in the path. The caller must be allowed to use it.
    case app
    /// The app that owns the record whose id is in the path. The caller must be allowed to use it.
    case record(Kind)
    /// All apps that the caller may use. The operation's handler itself omits records of other apps.
    case filtered
    /// No particular app, because the request acts on the server or on all apps. Callers that are limited to certain
    /// apps are refused.
    case server

    /// The kinds of records that a path names without their app. The raw value is the name of the path parameter.
    enum Kind: String, CaseIterable, Sendable {
        case notification, schedule, webhook, publication, issue, upload
        case delivery = "apnsId"
    }
}

extension ProviderOperation {
    /// The app on which requests for the operation act. An unknown path parameter results in ``AppSubject/server``,
    /// which callers that are limited to certain apps cannot use.
    var subject: AppSubject {
        if self.pathParameters.contains("app") { return .app }
        if let kind = self.pathParameters.lazy.compactMap(AppSubject.Kind.init(rawValue:)).first {
            return .record(kind)
        }
        return self.isFilteredByApp ? .filtered : .server
    }
}

/// Checks that a caller that is limited to certain apps acts only on these apps. This is the only check of its kind,
/// and runs before the operation's handler. The response does not reveal whether another app, or a record of another
/// app, exists.
struct AppAuthorization: Sendable {
    let store: any AppStore

    /// Checks that a caller may act on the app of the request, which `operation` and the path determine.
    /// - Throws: ``RequestError`` if it may not. For a record of another app, it is the same error as for a record that
    ///   does not exist.
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

    /// Returns the error that the handler would throw for a record of the given kind that does not exist.
    private static func missing(_ kind: AppSubject.Kind) -> RequestError {
        switch kind {
        case .notification, .schedule, .webhook, .publication, .issue, .upload: .noSuch(kind.rawValue)
        case .delivery: .noSuch("delivery", by: "apns-id", at: "apnsId")
        }
    }
}

extension APICaller {
    /// The description of the caller in error messages: `this API key` or `this person`.
    var text: String { self.isPerson ? "this person" : "this API key" }
}
