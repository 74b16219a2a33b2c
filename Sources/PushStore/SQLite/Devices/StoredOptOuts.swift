/// The stored form of opt-outs: each category between line ends, so that one is found without reading the others.
enum StoredOptOuts {
    static func text(_ categories: Set<ExactText>) -> String? {
        categories.isEmpty ? nil : "\n\(categories.sorted().map(\.text).joined(separator: "\n"))\n"
    }

    static func read(_ text: String?) -> Set<ExactText> {
        Set((text ?? "").split(separator: "\n").map { ExactText(String($0)) })
    }
}
