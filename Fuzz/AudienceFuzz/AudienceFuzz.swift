import Foundation
import Fuzzing
import ProviderModel
import PushSupport
import PushTypes

@testable import PushStore

/// Fuzzes the JSON form of audiences, on a small stack because of deep nesting.
@main
enum AudienceFuzz {
    /// The stack of a thread on some systems, in bytes.
    private static let stackSize = 512 * 1024
    private static let now = Timestamp(seconds: 1_700_000_000)

    static func main() {
        Fuzzer.run(stackSize: Self.stackSize) { input in
            guard let expression = Self.read(Data(input)) else { return }
            guard let stored = try? expression.json.text else { preconditionFailure("cannot be stored: \(expression)") }
            precondition(Self.read(stored)?.json == expression.json, "not the same again: \(expression)")
            Self.select(expression)
        }
    }

    private static func read(_ json: Data) -> AudienceExpression? {
        guard case .object(let members) = try? JSONValue(parsing: json) else { return nil }
        return try? AudienceExpression(json: members, path: "audience", now: Self.now)
    }

    /// Checks that the statement has nothing of the input: a placeholder for each argument, and only the quotes of
    /// types.
    private static func select(_ expression: AudienceExpression) {
        let query = AudienceSQL(expression, app: 1, .ofAnyType)
        let places = query.sql.utf8.filter { $0 == UInt8(ascii: "?") }.count
        precondition(places == query.arguments.count, "\(query.sql): \(query.arguments.count) arguments")
        var bare = query.sql
        for word in ["'text'", "'integer'", "'real'", "'blob'"] { bare = bare.replacing(word, with: "") }
        precondition(!bare.utf8.contains { $0 == UInt8(ascii: "'") || $0 == UInt8(ascii: "\"") }, query.sql)
    }
}
