import Crypto
import Foundation
import PushSupport
package import PushTypes

/// The apps that accept the registration forms of older systems. Apps in the field have no API key, so a form is
/// rejected unless its app is named here.
package struct CompatibilityConfiguration: Hashable, Sendable {
    package var apps: [Topic: FormAccess] = [:]

    package init() {}

    /// The credentials of the registration forms of one app.
    package struct FormAccess: Hashable, Sendable {
        /// The key in the path; `nil` if only accounts give access.
        package let key: String?
        /// The values of the field `accountId`, in lower case, with which the publisher's form is accepted without a
        /// key.
        package let accounts: Set<String>

        /// The shortest key, in bytes.
        package static let minimumKey = 16

        /// Returns `nil` without a key and accounts, for a key that has fewer than ``minimumKey`` bytes or others than
        /// letters, digits, hyphens and underscores, and for an empty account.
        package init?(key: String?, accounts: Set<String> = []) {
            guard key != nil || !accounts.isEmpty, !accounts.contains("") else { return nil }
            if let key, key.utf8.count < Self.minimumKey { return nil }
            if let key, !key.utf8.allSatisfy({ $0.isAlphanumeric || "-_".utf8.contains($0) }) { return nil }
            self.key = key
            self.accounts = Set(accounts.map { $0.lowercased() })
        }

        /// Compares hashes, so that the time of the comparison reveals nothing.
        func allows(key: String) -> Bool {
            guard let own = self.key else { return false }
            return SHA256.hash(data: Data(key.utf8)) == SHA256.hash(data: Data(own.utf8))
        }

        /// Compares without regard to case.
        func allows(account: String?) -> Bool {
            account.map { self.accounts.contains($0.lowercased()) } ?? false
        }
    }
}
