/// A sequence that is searched for in others (Knuth, Morris, Pratt): the time is linear in their length, whatever they repeat.
struct SearchPattern<Element: Hashable & Sendable>: Hashable, Sendable {
    private let elements: [Element]
    /// For each beginning of the elements, the length of the longest shorter beginning that it ends with.
    private let borders: [Int]

    init(_ elements: [Element]) {
        var borders: [Int] = elements.isEmpty ? [] : [0]
        var length = 0
        for element in elements.dropFirst() {
            while length > 0, elements[length] != element { length = borders[length - 1] }
            if elements[length] == element { length += 1 }
            borders.append(length)
        }
        (self.elements, self.borders) = (elements, borders)
    }

    /// Returns `true` if some occurrence meets a condition. An empty pattern occurs nowhere.
    /// - Parameter condition: Is asked about the range of an occurrence. Occurrences may overlap.
    func occurs(in text: [Element], where condition: (Range<Int>) -> Bool) -> Bool {
        guard !self.elements.isEmpty, self.elements.count <= text.count else { return false }
        var length = 0
        for (index, element) in text.enumerated() {
            while length > 0, length == self.elements.count || self.elements[length] != element {
                length = self.borders[length - 1]
            }
            if self.elements[length] == element { length += 1 }
            guard length == self.elements.count else { continue }
            let end = index + 1
            if condition((end - length)..<end) { return true }
        }
        return false
    }
}
