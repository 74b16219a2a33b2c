extension String {
    /// Without control characters: what comes from elsewhere must not steer the terminal.
    var printable: String {
        String(
            String.UnicodeScalarView(self.unicodeScalars.map { $0.properties.generalCategory == .control ? "�" : $0 })
        )
    }
}
