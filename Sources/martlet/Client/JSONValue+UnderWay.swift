import PushSupport

extension JSONValue {
    /// The end of a sentence about a stop, with the number of pushes that it could not take back; empty for none.
    var underWay: String {
        guard case .integer(let count) = self["underWay"], count > 0 else { return "" }
        return count == 1 ? "; one push is still under way" : "; \(count) pushes are still under way"
    }
}
