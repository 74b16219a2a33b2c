import Foundation
import Hummingbird
import ProviderModel
package import PushHTTP
import PushSupport
import PushTypes

/// The query parameters that filtered, sorted and paged lists share.
extension ParameterDescription {
    static let from = ParameterDescription.query(
        "from",
        "From this time on: RFC 3339, or seconds since 1970.",
        .queryTime
    )
    static let to = ParameterDescription.query("to", "Before this time.", .queryTime)
    static let total = ParameterDescription.query(
        "total",
        "true: the response counts the entries of the whole list, up to \(ListTotal.maximum).",
        .choice(["true", "false"])
    )

    static func sort<Sort: RawRepresentable<String> & CaseIterable>(_ type: Sort.Type) -> ParameterDescription {
        .query("sort", "The order; default \(type.allCases.first?.rawValue ?? "").", .choice(of: type))
    }
}

extension OperationRequest {
    /// Parses a query parameter that is a time, in RFC 3339 or in seconds since 1970. Returns `nil` if it is absent.
    func time(_ name: String) throws -> Timestamp? {
        try self.value(
            name,
            { text in
                if let time = Timestamp(rfc3339: text) { return time }
                // As the OpenAPI document requires, the number has neither a plus sign nor leading zeros.
                guard let seconds = Int64(text), text == "\(seconds)", Schema.calendarSeconds.contains(seconds)
                else { return nil }
                return Timestamp(seconds: seconds)
            },
            orThrow: .invalid(name, "use RFC 3339, such as 2026-11-25T09:30:00Z, or seconds since 1970")
        )
    }

    /// Returns the time range in the query parameters `from` and `to`, with `nil` for one that is absent.
    /// - Throws: ``RequestError`` unless the end is after the start.
    func timeRange() throws -> (from: Timestamp?, to: Timestamp?) {
        let (from, to) = (try self.time("from"), try self.time("to"))
        if let from, let to, to <= from {
            throw RequestError.invalid("to", "the end of a range comes after its beginning")
        }
        return (from, to)
    }

    /// Parses a query parameter that is a UUID. Returns `nil` if it is absent.
    func queryUUID(_ name: String) throws -> UUID? {
        try self.value(name, UUID.init(uuidString:), orThrow: .invalid(name, "use a UUID"))
    }

    /// Returns a query parameter of 1 to `maximum` bytes, by default ``Member/maximumText``, or `nil` if it is absent.
    package func text(_ name: String, maximum: Int? = nil) throws -> String? {
        let maximum = maximum ?? Member.maximumText
        return try self.value(
            name,
            { (1...maximum).contains($0.utf8.count) ? $0 : nil },
            orThrow: .invalid(name, "use 1 to \(maximum) bytes")
        )
    }

    /// Returns whether the query requests the number of all entries and has no cursor. Only the first page of a list
    /// includes the number.
    func wantsTotal() throws -> Bool {
        let wanted = try self.value(
            "total",
            { ["true": true, "false": false][$0] },
            orThrow: .invalid("total", "use true or false")
        )
        return wanted == true && self.query["cursor"] == nil
    }

    /// Returns the position in a sorted list at which the previous page ended, from the cursor in the query, or `nil`
    /// for the first page.
    func position(_ list: Cursor.List) throws -> ListPosition? {
        try self.cursor(list).map { cursor in
            cursor.second.map { ListPosition(key: cursor.position, number: $0) }
                ?? ListPosition(number: cursor.position)
        }
    }
}

extension ListPosition {
    /// Returns the cursor for the position in `list`. If the list is sorted, the cursor contains the sort key as well
    /// as the number of the entry.
    func cursor(_ list: Cursor.List, isSorted: Bool) -> String {
        (isSorted
            ? Cursor(list: list, position: self.key, second: self.number)
            : Cursor(list: list, position: self.number)).text
    }
}

extension Schema {
    /// Returns the schema for a page of the list `name`, which may include the number of all entries.
    static func countedPage(_ name: String, of element: Schema) -> Schema {
        .object(
            required: [(name, .array(of: element))],
            optional: [
                ("next", .string().described("The cursor of the next page; a page with few entries may have one.")),
                ("total", .integer().described("The entries of the whole list; only if it was asked for.")),
                ("totalIsExact", .bool.described("false: there are at least so many.")),
            ],
            acceptsNull: false
        )
    }
}

extension Response {
    /// Returns a page of the list `name`. A `total` of `nil` omits the number of all entries, and a `next` of `nil`
    /// marks the last page.
    static func countedPage(
        _ name: String,
        _ entries: [some JSONRepresentable],
        next: String?,
        total: ListTotal?
    ) throws -> Response {
        let counts = total.map { ["total": JSONValue.integer(Int64($0.count)), "totalIsExact": .bool($0.isExact)] }
        return try .page(name, entries, next: next, further: counts ?? [:])
    }
}
