extension String {
    /// The text without control characters, because text from elsewhere must not control the terminal.
    var printable: String {
        String(
            String.UnicodeScalarView(self.unicodeScalars.map { $0.properties.generalCategory == .control ? "�" : $0 })
        )
    }
}
