package import PushSupport

/// Finds the times of a request that are in milliseconds, the unit of version 0.1.
package enum DeprecatedTimes {
    /// The members whose values are times, or objects of times.
    private static let members: Set<String> = ["at", "from", "until", "lastSeen", "since"]
    /// The members whose objects may contain a time.
    private static let objects: Set<String> = ["when", "to", "and", "or", "not", "lastSeen", "audience", "schedule"]

    /// Returns a warning for each time that is given in milliseconds.
    package static func warnings(in request: JSONValue) -> [ContentWarning] {
        var warnings: [ContentWarning] = []
        Self.search(request, path: "", isTime: false, &warnings)
        return warnings
    }

    /// Appends a warning for each time in `value`.
    /// - Parameter isTime: Whether a number in this place is a time.
    private static func search(_ value: JSONValue, path: String, isTime: Bool, _ warnings: inout [ContentWarning]) {
        switch value {
        case .integer(let number) where isTime && number >= JSONFields.firstMilliseconds:
            let message = "milliseconds will not be understood by later versions: use RFC 3339 text or seconds"
            warnings.append(ContentWarning(field: path, message: message))
        case .object(let members):
            for (name, member) in members.sorted(by: { $0.key < $1.key }) {
                let isTime = isTime && name != "withinDays" || Self.members.contains(name)
                guard isTime || Self.objects.contains(name) else { continue }
                Self.search(member, path: path.isEmpty ? name : "\(path).\(name)", isTime: isTime, &warnings)
            }
        case .array(let elements):
            for (index, element) in elements.enumerated() {
                Self.search(element, path: "\(path)[\(index)]", isTime: false, &warnings)
            }
        case .integer, .null, .bool, .number, .string: break
        }
    }
}
