package import PushSupport

/// An event of the simulator, as it is printed and counted by `wait`.
package struct SimulatorEvent: Hashable, Sendable {
    /// The names that `wait` and JSON use.
    package enum Name: String, Hashable, Sendable, CaseIterable {
        /// The phone has its device token.
        case connected
        /// The provider has the installation as it is.
        case registered
        /// The notification service extension has run.
        case `extension`
        case shown
        /// A push shows nothing.
        case notShown = "not-shown"
        case badge, sound
        /// A background push has woken the app.
        case woken
        /// A Live Activity has changed.
        case activity
        case opened, dismissed, action, converted
        /// A screen of the app opens.
        case screen
        /// Receipts are with the provider; `wait` counts each of them.
        case receipts
        /// A thing went wrong that ends nothing.
        case problem
        /// The steps of a reader.
        case catalogue, entitled, cover, downloading, paused, resumed, waiting, downloaded, skipped, failed

        /// The events that only readers have.
        private static let readers: Set<Name> = [
            .catalogue, .entitled, .cover, .downloading, .paused, .resumed, .waiting, .downloaded, .skipped, .failed,
        ]
        /// The events of a phone with the simulated app.
        package static let ofPhones = Self.allCases.filter { !Self.readers.contains($0) }
        /// The events of a phone with a reader.
        package static let ofReaders: [Name] = Self.allCases.filter {
            Self.readers.contains($0) || [.connected, .registered, .shown, .notShown, .badge, .sound].contains($0)
                || [.woken, .opened, .problem].contains($0)
        }
    }

    package let name: Name
    /// The number that `wait` counts.
    package var count = 1
    /// The text for people, in lines.
    package let lines: [String]
    /// The members for JSON, besides `event`.
    package let members: [String: JSONValue]

    package init(_ name: Name, _ lines: [String], _ members: [String: JSONValue?] = [:]) {
        (self.name, self.lines, self.members) = (name, lines, members.compactMapValues { $0 })
    }

    package init(_ name: Name, _ line: String, _ members: [String: JSONValue?] = [:]) {
        self.init(name, [line], members)
    }

    /// The event as one JSON object.
    package var json: JSONValue {
        .object(self.members.merging(["event": .string(self.name.rawValue)]) { $1 })
    }
}
