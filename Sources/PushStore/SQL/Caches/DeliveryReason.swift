import ProviderModel

/// The reason text of a delivery, stored once for all deliveries that have it. A campaign has few different reasons.
struct DeliveryReason: SharedRow {
    /// The maximum length of a stored reason, in characters. Longer reasons of a push service are truncated.
    private static let maximumLength = 300
    /// The maximum number of distinct reasons in the store, beyond which reasons are stored as ``other``. Push services
    /// use a few dozen, but a service might send arbitrary texts.
    private static let maximumCount = 10_000
    private static let other = "another reason than the 10,000 that are known"

    private let text: BytewiseString

    init(_ text: String) { self.text = BytewiseString(String(text.prefix(Self.maximumLength))) }

    func id(in database: any SQLConnection) throws -> Int64 {
        func stored(_ text: String) throws -> Int64? {
            try database.integer(sql: "SELECT id FROM reason WHERE text = ?", [text])
        }
        if let id = try stored(self.text.text) { return id }
        let isFull = try database.count(sql: "SELECT max(id) FROM reason") >= Self.maximumCount
        if isFull, let other = try stored(Self.other) { return other }
        return try database.insert(into: "reason", ["text": isFull ? Self.other : self.text.text], returning: "id")
    }
}

typealias ReasonLookup = SharedRowLookup<DeliveryReason>
