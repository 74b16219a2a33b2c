import Foundation

/// A state machine for the download of one attachment. It fails at the first error, and then never continues.
struct AttachmentDownload: Sendable {
    private enum State: Sendable {
        /// A state in which the request was sent and no response has arrived yet.
        case requested
        /// A state in which the file is arriving. The values are its type, its first bytes, and the number of bytes
        /// received so far.
        case receiving(AttachmentType, start: [UInt8], size: Int)
        case failed(AttachmentError)
    }

    private let policy: AttachmentPolicy
    /// The type that the payload declares for the file, or `nil` if it declares none.
    private let declared: AttachmentType?
    private(set) var url: AttachmentURL
    private var redirects = 0
    private var state = State.requested

    /// Creates the state of a download whose request is being sent.
    /// - Parameter type: The content type that the payload declares, or `nil` if it declares none.
    /// - Throws: ``AttachmentError`` for a URL or a type that the policy does not allow.
    init(_ url: String, type: String? = nil, policy: AttachmentPolicy) throws(AttachmentError) {
        self.policy = policy
        self.url = try AttachmentURL(url, allowsLocalServers: policy.allowsLocalServers)
        if let type {
            guard let type = AttachmentType(contentType: type), policy.types.contains(type) else {
                throw .typeNotAllowed
            }
            self.declared = type
        } else {
            self.declared = nil
        }
    }

    /// Creates the state of a download from the member `attachment` of a payload, which is a URL, or an object with
    /// `url` and `type`.
    /// - Throws: ``AttachmentError`` for any other member, and for a URL or a type that the policy does not allow.
    init(_ member: JSONValue, policy: AttachmentPolicy) throws(AttachmentError) {
        switch member {
        case .string(let url): try self.init(url, policy: policy)
        case .object(let members):
            guard case .string(let url)? = members["url"], members.keys.allSatisfy({ $0 == "url" || $0 == "type" })
            else {
                throw .malformedMember
            }
            switch members["type"] {
            case nil, .null?: try self.init(url, policy: policy)
            case .string(let type)?: try self.init(url, type: type, policy: policy)
            default: throw .malformedMember
            }
        default: throw .malformedMember
        }
    }

    enum OnResponse: Equatable {
        /// Receive the body of the response.
        case receive
        /// Request this URL, to which the response redirects.
        case follow(URL)
        case fail(AttachmentError)
    }

    /// Processes the head of a response, and returns how the exchange continues.
    /// - Parameters:
    ///   - length: The value of the header field `content-length`, or `nil` if it is absent.
    ///   - header: A closure that returns the value of a header field by its lower-case name, or `nil` if it is absent.
    mutating func responded(status: Int, length: Int64?, header: (String) -> String?) -> OnResponse {
        guard case .requested = self.state else { return self.failing(self.failure ?? .status(status)) }
        do throws(AttachmentError) {
            switch status {
            case 200: return try self.accepted(contentType: header("content-type"), length: length)
            case 301, 302, 303, 307, 308:
                guard self.redirects < self.policy.maximumRedirects else { throw .tooManyRedirects }
                guard let location = header("location") else { throw .status(status) }
                self.url = try self.url.redirected(to: location, allowsLocalServers: self.policy.allowsLocalServers)
                self.redirects += 1
                return .follow(self.url.url)
            default: throw .status(status)
            }
        } catch {
            return self.failing(error)
        }
    }

    private mutating func accepted(contentType: String?, length: Int64?) throws(AttachmentError) -> OnResponse {
        guard let type = contentType.flatMap({ AttachmentType(contentType: $0) }), self.policy.types.contains(type)
        else {
            throw .typeNotAllowed
        }
        guard self.declared == nil || self.declared == type else { throw .typeMismatch }
        guard (length ?? 0) <= Int64(self.policy.maximumSize) else { throw .tooLarge }
        self.state = .receiving(type, start: [], size: 0)
        return .receive
    }

    private mutating func failing(_ failure: AttachmentError) -> OnResponse {
        self.state = .failed(failure)
        return .fail(failure)
    }

    enum OnBytes: Equatable {
        case write
        case fail(AttachmentError)
    }

    /// Processes the next bytes of the body, and returns whether to store them or to fail.
    mutating func received(_ bytes: Data) -> OnBytes {
        guard case .receiving(let type, var start, let size) = self.state else {
            let failure = self.failure ?? .typeNotAllowed
            self.state = .failed(failure)
            return .fail(failure)
        }
        guard bytes.count <= self.policy.maximumSize - size else {
            self.state = .failed(.tooLarge)
            return .fail(.tooLarge)
        }
        start += bytes.prefix(AttachmentType.signatureLength - start.count)
        if start.count == AttachmentType.signatureLength, !type.matches(start) {
            self.state = .failed(.typeMismatch)
            return .fail(.typeMismatch)
        }
        self.state = .receiving(type, start: start, size: size + bytes.count)
        return .write
    }

    /// Checks the start of the file after the end of the body.
    /// - Returns: The type that was declared and verified.
    /// - Throws: ``AttachmentError`` for a file that is incomplete or of another type.
    func finished() throws(AttachmentError) -> AttachmentType {
        switch self.state {
        case .requested: throw .connection("the server closed the connection")
        case .failed(let failure): throw failure
        case .receiving(let type, let start, _):
            // A file may be shorter than a signature.
            guard type.matches(start) else { throw .typeMismatch }
            return type
        }
    }

    /// The failure that terminated the download, or `nil` if there is none.
    var failure: AttachmentError? {
        guard case .failed(let failure) = self.state else { return nil }
        return failure
    }
}
