import PushSupport

extension SimulatorEvent {
    package init(_ event: ReaderEvent) {
        func issue(_ name: Name, _ product: String, _ text: String, _ more: [String: JSONValue?] = [:])
            -> SimulatorEvent
        {
            SimulatorEvent(name, "\(product)\(text)", more.merging(["productId": product.json]) { $1 })
        }
        func number(_ value: Int64) -> JSONValue { .integer(value) }
        switch event {
        case .catalogue(let issues, let isNew):
            let text = isNew ? "\(issues) issues" : "unchanged, \(issues) issues"
            self.init(.catalogue, text, ["issues": number(Int64(issues)), "isNew": .bool(isNew)])
        case .entitled(let product, let grounds): self = issue(.entitled, product, ": \(grounds)", ["by": grounds.json])
        case .coverLoaded(let product): self = issue(.cover, product, "")
        case .downloading(let product, let from, let size):
            let text = from == 0 ? ": \(ByteText.of(size))" : ": from \(ByteText.of(from)) of \(ByteText.of(size))"
            self = issue(.downloading, product, text, ["from": number(from), "size": number(size)])
        case .paused(let product): self = issue(.paused, product, ": the network is not Wi-Fi")
        case .resumed(let product): self = issue(.resumed, product, "")
        case .waiting(let product, let seconds, let reason):
            let more = ["seconds": number(seconds), "message": reason.json]
            self = issue(.waiting, product, ": again in \(seconds) s: \(reason)", more)
        case .downloaded(let product, let bytes):
            self = issue(.downloaded, product, ": \(ByteText.of(bytes)), and it has its mark", ["size": number(bytes)])
        case .skipped(let product, let reason):
            self = issue(
                .skipped,
                product,
                ": \(reason.text)",
                ["reason": reason.code.json, "message": reason.text.json]
            )
        case .failed(let product, let reason): self = issue(.failed, product, ": \(reason)", ["message": reason.json])
        case .opened(let product): self = issue(.opened, product, ": it no longer has a mark")
        case .problem(let text): self.init(.problem, text, ["problem": text.json])
        }
    }
}

package enum ByteText {
    /// Returns a number of bytes as a string with a unit, such as `734.0 MB`.
    package static func of(_ bytes: Int64) -> String {
        var (value, unit) = (Double(bytes), "B")
        for next in ["kB", "MB", "GB", "TB"] where value >= 1000 { (value, unit) = (value / 1000, next) }
        guard unit != "B" else { return "\(bytes) B" }
        // Foundation's formatting would depend on the locale.
        let tenths = Int64((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) \(unit)"
    }
}
