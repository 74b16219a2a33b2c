import PushSupport

extension APICaller {
    /// The caller in the words of an error: `this API key`, `this person`.
    var text: String { self.isPerson ? "this person" : "this API key" }
}
