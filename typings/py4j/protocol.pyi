class Py4JError(Exception):
    cause: BaseException | None

class Py4JJavaError(Py4JError): ...
