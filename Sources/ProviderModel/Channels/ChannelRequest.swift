package import PushSupport
package import PushTypes

/// The request that creates a broadcast channel.
package enum ChannelRequest {
    private static let words = ChannelStorage.allCases.map(\.word)
    package static let storage = Member.text("storage", maximum: 16, as: .choice(Self.words))
        .parsed("invalid_value", "use \(Self.words.joined(separator: " or "))") { ChannelStorage(word: $0) }
    package static let name = Member.text("name", 1...ChannelRecord.maximumName)
    package static let addition = RequestObject(
        required: [Member.environment],
        optional: [
            Self.storage
                .described("newest: devices that were offline get the newest broadcast, for 8 h. Default none."),
            Self.name,
        ]
    ) { $0.example(.texts(["environment": "production", "storage": "newest", "name": "match 7"])) }
}

extension ChannelStorage {
    /// The name of the storage policy in the API.
    package var word: String {
        switch self {
        case .none: "none"
        case .newest: "newest"
        }
    }

    package init?(word: String) {
        guard let storage = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = storage
    }
}
