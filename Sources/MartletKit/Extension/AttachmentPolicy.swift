/// The limits within which attachments are downloaded. The defaults suit a notification service extension, which the
/// system gives 30 seconds and little memory.
public struct AttachmentPolicy: Hashable, Sendable {
    /// The accepted types, by default all types that the system can show.
    public var types: Set<AttachmentType>
    /// The maximum size of a file in bytes, by default 10 MB. A larger file is not downloaded. The system accepts
    /// images of 10 MB, sounds of 5 MB and videos of 50 MB.
    public var maximumSize: Int
    /// The maximum duration of a download, including redirects, by default 20 seconds.
    public var deadline: Duration
    /// The maximum number of redirects that are followed, by default 3. A further one fails the download.
    public var maximumRedirects: Int
    /// A Boolean value that indicates whether plain HTTP, and addresses of the device itself and of private networks,
    /// are allowed for development. It is `false` by default.
    public var allowsLocalServers: Bool

    public init(
        types: Set<AttachmentType> = Set(AttachmentType.allCases),
        maximumSize: Int = 10_000_000,
        deadline: Duration = .seconds(20),
        maximumRedirects: Int = 3,
        allowsLocalServers: Bool = false
    ) {
        self.types = types
        self.maximumSize = maximumSize
        self.deadline = deadline
        self.maximumRedirects = maximumRedirects
        self.allowsLocalServers = allowsLocalServers
    }
}

/// The reason why an attachment could not be downloaded.
public enum AttachmentError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The error for a payload whose member `attachment` is neither a URL nor an object with `url` and `type`.
    case malformedMember
    /// The error for a URL that is malformed or too long, or has a component that is not accepted, such as a user name.
    case malformedURL
    /// The error for a URL that is not `https`.
    case notHTTPS
    /// The error for a URL of the device itself or of a private network.
    case localAddress
    case tooManyRedirects
    /// The error for a response that is neither successful nor a valid redirect. The value is its HTTP status.
    case status(Int)
    /// The error for a file whose declared type is missing or not among the policy's types.
    case typeNotAllowed
    /// The error for a file that is not of the type that the server or the payload declares.
    case typeMismatch
    case tooLarge
    /// The error for a download that exceeds the policy's deadline, or whose task was cancelled.
    case tooLate
    /// The error for a connection that failed. The value is the system's description.
    case connection(String)
    /// The error for a file that could not be written. The value is the system's description.
    case file(String)

    /// A description of the reason, for the log. It contains no part of the URL.
    public var description: String {
        switch self {
        case .malformedMember: "attachment must be a URL, or an object with url and type"
        case .malformedURL: "the attachment's URL is malformed"
        case .notHTTPS: "the attachment's URL is not https"
        case .localAddress: "the attachment's URL leads to a local address"
        case .tooManyRedirects: "the attachment's server redirects too often"
        case .status(let status): "the attachment's server responded with \(status)"
        case .typeNotAllowed: "the attachment's type is missing or not allowed"
        case .typeMismatch: "the attachment is not of the declared type"
        case .tooLarge: "the attachment is too large"
        case .tooLate: "the attachment did not arrive in time"
        case .connection(let error): "the attachment's connection failed: \(error)"
        case .file(let error): "the attachment cannot be written: \(error)"
        }
    }
}
