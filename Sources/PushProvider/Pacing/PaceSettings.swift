package import PushSupport

/// How fast a notification may be sent: the member `pace` of a request.
package enum PaceSettings: Hashable, Sendable {
    /// Recipients per second.
    case rate(Int)
    /// `size` recipients, then a pause until `interval` seconds after the wave began.
    case waves(size: Int, interval: Int)

    package static let maximumRate: Int64 = 1_000_000
    package static let maximumWave: Int64 = 100_000_000
    /// In seconds: a week.
    package static let maximumInterval: Int64 = 7 * 86_400

    private static let members: Set<String> = ["rate", "waves"]

    /// Reads the member `name` (`pace`): `{"rate":500}` or `{"waves":{"size":10000,"intervalSeconds":300}}`; `nil` if it
    /// is not there.
    /// - Throws: ``RequestError`` that names the member at fault.
    package static func parse(_ name: String, in fields: JSONFields) throws(RequestError) -> PaceSettings? {
        guard let fields = try fields.fields(name, known: Self.members) else { return nil }
        return try PaceSettings(fields)
    }

    /// Reads what ``json`` wrote.
    package init(stored: JSONValue) throws(RequestError) {
        self = try PaceSettings(JSONFields(stored: stored, name: "pace", known: Self.members))
    }

    private init(_ fields: JSONFields) throws(RequestError) {
        let rate = try fields.integer("rate", in: 1...Self.maximumRate)
        let waves = try fields.fields("waves", known: ["size", "intervalSeconds"])
        switch (rate, waves) {
        case (let rate?, nil):
            self = .rate(Int(rate))
        case (nil, let waves?):
            guard let size = try waves.integer("size", in: 1...Self.maximumWave) else {
                throw waves.refusal("size", "missing_field", "how many recipients make a wave")
            }
            guard let interval = try waves.integer("intervalSeconds", in: 1...Self.maximumInterval) else {
                throw waves.refusal("intervalSeconds", "missing_field", "how many seconds lie between two waves")
            }
            self = .waves(size: Int(size), interval: Int(interval))
        case (nil, nil):
            throw fields.refusal("rate", "missing_field", "give rate or waves")
        default:
            throw fields.refusal("waves", "conflicting_field", "give rate or waves, not both")
        }
    }

    /// The canonical form, for the store and for answers.
    package var json: JSONValue {
        switch self {
        case .rate(let rate):
            return .object(["rate": .integer(Int64(rate))])
        case .waves(let size, let interval):
            let waves: [String: JSONValue] = [
                "size": .integer(Int64(size)), "intervalSeconds": .integer(Int64(interval)),
            ]
            return .object(["waves": .object(waves)])
        }
    }
}
