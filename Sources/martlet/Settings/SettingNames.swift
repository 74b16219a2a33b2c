/// The names of settings in this version and in the previous one.
struct SettingNames: Sendable {
    static let all = SettingNames(SettingTable.all.flatMap(\.settings))

    /// The settings by their keys, including former keys.
    let byKey: [String: Setting]
    /// The settings by their environment variables, including former variables.
    let byVariable: [String: Setting]
    /// The prefixes of keys that are objects in the settings file, such as `serve` and `serve.dispatch`.
    let groups: Set<String>

    init(_ settings: [Setting]) {
        var (byKey, byVariable, groups) = ([String: Setting](), [String: Setting](), Set<String>())
        for setting in settings {
            for key in [setting.key] + setting.formerKeys {
                byKey[key] = setting
                byVariable[Setting.environmentVariable(of: key)] = setting
                let parts = key.split(separator: ".")
                for length in 1..<max(1, parts.count) { groups.insert(parts.prefix(length).joined(separator: ".")) }
            }
        }
        (self.byKey, self.byVariable, self.groups) = (byKey, byVariable, groups)
    }

    /// Returns the known key that is most similar to an unknown one, or `nil` if none is similar.
    /// - Parameter isGroup: Pass `true` if the value of the unknown key is an object, which limits the candidates to
    ///   groups.
    func nearestKey(to key: String, isGroup: Bool = false) -> String? {
        let keys = self.byKey.filter { $0.key == $0.value.key }.map(\.key)
        return SpellingDistance.nearest(to: key, among: isGroup ? Array(self.groups) : keys)
    }

    /// Returns the known environment variable that is most similar to an unknown one, or `nil` if none is similar.
    func nearestVariable(to variable: String) -> String? {
        let names = self.byVariable.values.map(\.environmentVariable)
        return SpellingDistance.nearest(to: variable, among: names, after: Setting.variablePrefix.count)
    }
}

/// Measures the similarity of names.
enum SpellingDistance {
    /// Returns the candidate with the smallest distance from a name, or `nil` if none is similar.
    /// - Parameter prefix: The number of leading characters that all names share, which are not compared.
    static func nearest(to name: String, among candidates: [String], after prefix: Int = 0) -> String? {
        let wanted = Array(name.dropFirst(prefix).lowercased())
        let scored = candidates.sorted().map { candidate in
            (candidate, Self.score(wanted, Array(candidate.dropFirst(prefix).lowercased())))
        }
        guard let best = scored.min(by: { $0.1 < $1.1 }), best.1 <= max(2, wanted.count / 2) else { return nil }
        return best.0
    }

    /// Returns the distance between two names. It is divided by four if they end with the same word, because users
    /// often omit the group of a setting.
    private static func score(_ wanted: [Character], _ candidate: [Character]) -> Int {
        let distance = Self.between(wanted, candidate)
        let separators: Set<Character> = [".", "_"]
        guard let last = wanted.split(whereSeparator: separators.contains).last,
            last == candidate.split(whereSeparator: separators.contains).last
        else { return distance }
        return (distance + 3) / 4
    }

    /// Returns the minimum number of characters to insert, delete, replace or swap to convert one name to the other.
    static func between(_ first: [Character], _ second: [Character]) -> Int {
        var (beforeLast, last) = ([Int](), Array(0...second.count))
        for (row, character) in first.enumerated() {
            var current = [row + 1]
            for (column, other) in second.enumerated() {
                let replaced = last[column] + (character == other ? 0 : 1)
                var best = min(replaced, last[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, character == second[column - 1], first[row - 1] == other {
                    best = min(best, beforeLast[column - 1] + 1)
                }
                current.append(best)
            }
            (beforeLast, last) = (last, current)
        }
        return last[second.count]
    }
}
