/// The header list of a request, as RFC 9113 sections 8.2 and 8.3 and the provider API read it.
struct RequestHead: HeaderList {
    static let maximumSize = 8000

    /// The request without its body.
    var request = ProviderRequest()
    /// The value of `content-length`, or -1 if there is none.
    private(set) var contentLength = -1
    /// Indicates whether a rule of RFC 9113 section 8.2 or 8.3 is broken.
    var isMalformed = false
    var size = 0
    /// One bit for each pseudo-header that came.
    private(set) var pseudo: UInt8 = 0
    private var hasRegularField = false

    /// Is set for the pseudo-headers of a request (RFC 9113 section 8.3.1). CONNECT has neither path nor scheme.
    var isRequest: Bool {
        let path = RequestField.Name.path.bit | RequestField.Name.scheme.bit
        guard self.pseudo & RequestField.Name.method.bit != 0 else { return false }
        if self.pseudo & path == path { return !self.request.path.isEmpty && self.request.method != "CONNECT" }
        return self.pseudo & path == 0 && self.request.method == "CONNECT"
    }

    mutating func add(_ field: RequestField) {
        if field.name.isPseudo {
            if self.hasRegularField || self.pseudo & field.name.bit != 0 { self.isMalformed = true }
            self.pseudo |= field.name.bit
            return self.request.add(field.name, field.value)
        }
        self.hasRegularField = true
        switch field.name {
        case .other: break
        case .malformed: self.isMalformed = true
        case .te: if field.value != "trailers" { self.isMalformed = true }
        case .contentLength: self.addContentLength(field.value)
        default: self.request.add(field.name, field.value)
        }
    }

    private mutating func addContentLength(_ text: String) {
        var length = 0
        for digit in text.utf8 {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit), length < 1 << 40 else {
                return self.isMalformed = true
            }
            length = length * 10 + Int(digit - UInt8(ascii: "0"))
        }
        if text.isEmpty || self.contentLength >= 0 && self.contentLength != length { self.isMalformed = true }
        self.contentLength = length
    }
}
