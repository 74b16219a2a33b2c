/// The parameters of a header field such as `form-data; name="token"` (RFC 9110 section 5.6.6).
///
/// They are parsed leniently: a parameter without a value is ignored, and the first of repeated ones is used. The
/// parser works on scalars, because a delimiter and a combining mark behind it are one character to Swift.
package struct HeaderParameters: Equatable {
    private var values: [String: String] = [:]

    /// Parses the parameters behind the value at the start of a header field. They are separated by semicolons.
    package init(behindValue text: String) {
        self.init(Substring(text).unicodeScalars.drop { $0 != ";" }.dropFirst(), separators: [";"])
    }

    /// Parses a list of parameters that are separated by commas or semicolons.
    package init(list text: String) { self.init(Substring(text).unicodeScalars, separators: [",", ";"]) }

    private init(_ text: Substring.UnicodeScalarView, separators: Set<Unicode.Scalar>) {
        var rest = text
        while !rest.isEmpty {
            let name = rest.prefix { $0 != "=" && !separators.contains($0) }
            rest = rest.dropFirst(name.count)
            if rest.popFirst() == "=" {
                let value = Self.value(&rest, separators)
                let key = Self.token(name).lowercased()
                if self.values[key] == nil { self.values[key] = value }
                rest = rest.drop { !separators.contains($0) }.dropFirst()
            }
        }
    }

    package subscript(name: String) -> String? { self.values[name] }

    /// Removes a parameter's value from the start of `rest` and returns it. In a quoted value, a backslash escapes the
    /// next character.
    private static func value(_ rest: inout Substring.UnicodeScalarView, _ separators: Set<Unicode.Scalar>) -> String {
        rest = rest.drop { $0.properties.isWhitespace }
        guard rest.first == "\"" else {
            let value = rest.prefix { !separators.contains($0) }
            rest = rest.dropFirst(value.count)
            return Self.token(value)
        }
        rest.removeFirst()
        var value = String.UnicodeScalarView()
        while let scalar = rest.popFirst(), scalar != "\"" {
            value.append(scalar == "\\" ? rest.popFirst() ?? scalar : scalar)
        }
        return String(value)
    }

    private static func token(_ text: Substring.UnicodeScalarView) -> String {
        text.split { $0.properties.isWhitespace }.first.map { String(Substring($0)) } ?? ""
    }
}
