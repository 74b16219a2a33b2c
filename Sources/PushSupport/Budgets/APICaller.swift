package import Foundation
package import PushTypes

/// The caller of an API: an API key, or a person who has signed in.
///
/// Handlers read it from `OperationRequest.caller`, so that records name the caller that created them.
package struct APICaller: Hashable, Sendable {
    package let id: UUID
    /// The name of the key, or the sign-in name of the person.
    package let name: String
    /// A Boolean value that indicates whether the caller is a person, and not an API key.
    package let isPerson: Bool
    /// The names of the caller's scopes, in alphabetical order.
    package let scopes: [String]
    /// The apps to which the caller is limited, or `nil` for all apps.
    package let apps: Set<Topic>?
    /// The maximum number of requests per second, with bursts of twice as many, or `nil` for the server's default.
    package let rate: Int?
    /// The sign-in session of the request, or `nil` for a request with an API key.
    package let session: UUID?

    package init(
        id: UUID,
        name: String,
        isPerson: Bool = false,
        scopes: [String],
        apps: Set<Topic>? = nil,
        rate: Int? = nil,
        session: UUID? = nil
    ) {
        (self.id, self.name, self.isPerson) = (id, name, isPerson)
        (self.scopes, self.apps, self.rate, self.session) = (scopes, apps, rate, session)
    }

    /// The budget account to which the caller's requests are charged. A caller that is limited to one app is charged
    /// there.
    package var account: BudgetCaller { self.account(of: self.onlyApp) }

    /// The app to which the caller is limited, if it is exactly one, or `nil` otherwise.
    package var onlyApp: Topic? { self.apps?.count == 1 ? self.apps?.first : nil }

    /// Returns the budget account to which the caller's requests are charged. `app` is `nil` for those of no single
    /// app.
    package func account(of app: Topic?) -> BudgetCaller { BudgetCaller(app: app, .principal(self.id)) }

    /// Returns whether the caller may act on an app.
    package func mayUse(_ app: Topic) -> Bool { self.apps?.contains(app) ?? true }
}
