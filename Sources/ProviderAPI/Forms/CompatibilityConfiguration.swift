import Crypto
import Foundation
package import PushTypes

/// Who may register through the forms of older systems. Apps in the field have no API key, so that their doors are
/// closed unless they are named here.
package struct CompatibilityConfiguration: Hashable, Sendable {
    package var doors: [Topic: Door] = [:]

    package init() {}

    /// What opens the registration forms of one app.
    package struct Door: Hashable, Sendable {
        /// Stands in the path; `nil` if only accounts open the door.
        package let key: String?
        /// Values of the field `accountId` that the publisher's form is taken from without the key, in lower case.
        package let accounts: Set<String>

        /// Shortest key, in bytes.
        package static let minimumKey = 16

        /// `nil` if nothing would open the door, if the key has fewer than ``minimumKey`` bytes or others than letters,
        /// digits, hyphens and underscores, or if an account is empty.
        package init?(key: String?, accounts: Set<String> = []) {
            guard key != nil || !accounts.isEmpty, !accounts.contains("") else { return nil }
            if let key, key.utf8.count < Self.minimumKey || !key.utf8.allSatisfy(Self.isKeyCharacter) { return nil }
            self.key = key
            self.accounts = Set(accounts.map { $0.lowercased() })
        }

        /// Compares hashes, so that the time it takes says nothing.
        func opens(with key: String) -> Bool {
            guard let own = self.key else { return false }
            return SHA256.hash(data: Data(key.utf8)) == SHA256.hash(data: Data(own.utf8))
        }

        func opens(for account: String?) -> Bool {
            account.map { self.accounts.contains($0.lowercased()) } ?? false
        }

        private static func isKeyCharacter(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
    }
}
